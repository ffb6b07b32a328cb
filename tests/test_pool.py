"""Targets that come and go while everything else goes on."""

from dataclasses import replace

from monitor.discovery.populate import JobSettings
from monitor.discovery.provider import Found, Listener, Provider
from monitor.model.instant import SECOND, Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.model.relabel import Action, RelabelConfig
from monitor.model.targetgroup import TargetGroup
from monitor.pool import Job, Pool
from monitor.probe.options import ProbeOptions
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import ScrapeLoop
from monitor.storage.window import Window

OPTIONS = ScrapeOptions(scrape_interval=5 * SECOND, scrape_timeout=5 * SECOND)
SETTINGS = JobSettings("j", 5 * SECOND, 5 * SECOND)
NOW: Instant = 1_000_000


class Told:
    """A discovery that finds what it is told; addresses may have labels behind them: `a:1 pool=x`."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    def look(self) -> tuple[Found, Duration]:
        groups = [TargetGroup(text, (self._labels(text),)) for text in self.addresses]
        return Found(groups), SECOND

    def _labels(self, text: str) -> Labels:
        address, *more = text.split()
        return Labels.of({"__address__": address, **dict(pair.split("=") for pair in more)})

    def stop(self) -> None: ...


class World:
    """A job whose targets are found, and its pool."""

    def __init__(self, *addresses: str, probe: ProbeOptions | None = None, settings: JobSettings = SETTINGS) -> None:
        self.told = Told(*addresses)
        self.window = Window()
        self.provider = Provider("j", "told", self.told, Listener(), SECOND)
        self.provider.step()
        self.job = Job(settings, OPTIONS, probe, providers=(self.provider,))
        self.pool = Pool([self.job], self.window)

    def find(self, *addresses: str, at: Instant = NOW) -> None:
        self.told.addresses = addresses
        self.provider.step()
        self.pool.sync(at)

    def loop(self, instance: str) -> ScrapeLoop:
        (found,) = [
            loop for loop in self.pool.members.loops.values() if loop.target.labels.value("instance") == instance
        ]
        return found

    def instances(self) -> list[str]:
        return [target.labels.value("instance") for target, _ in self.pool.members.loops]

    def up(self, instance: str, at: Instant) -> float | None:
        """Return what a query would find of `up`; None when it is stale or was never there."""
        for column in self.window.select((equal(METRIC_NAME, "up"), equal("instance", instance))):
            found = column.newest(at - 5 * SECOND, at)
            return found[1] if found is not None else None
        return None


def test_what_stays_goes_on_as_it_is_and_what_goes_has_its_series_end_at_once() -> None:
    world = World("a:1", "b:1")
    a, b = world.loop("a:1"), world.loop("b:1")
    for loop in (a, b):
        loop.scrape(NOW)
    world.find("a:1", "c:1", at=NOW + 1000)
    assert world.instances() == ["a:1", "c:1"]
    assert world.loop("a:1") is a
    assert world.up("a:1", NOW + 1000) == 0
    assert world.up("b:1", NOW + 1000) is None
    # A scrape that was under way comes too late.
    b.scrape(NOW + 2000)
    assert world.up("b:1", NOW + 2000) is None


def test_one_that_comes_back_has_the_series_it_had() -> None:
    world = World("a:1")
    first = world.loop("a:1")
    first.scrape(NOW)
    world.find(at=NOW + 1000)
    world.find("a:1", at=NOW + 6000)
    again = world.loop("a:1")
    again.scrape(NOW + 10_000)
    assert again is not first
    assert world.up("a:1", NOW + 10_000) == 0
    (column,) = world.window.select((equal(METRIC_NAME, "up"),))
    assert list(column.view[0])[-1] == 0


def test_a_label_that_relabelling_leaves_out_makes_no_other_target() -> None:
    world = World("a:1 __meta_ready=false")
    loop = world.loop("a:1")
    world.find("a:1 __meta_ready=true")
    assert world.loop("a:1") is loop
    assert loop.target.discovered_labels.value("__meta_ready") == "true"
    world.find("a:1 pool=x")
    assert world.loop("a:1") is not loop


def test_what_is_found_twice_is_one_target() -> None:
    world = World("a:1", "a:1 __meta_x=y")
    assert world.instances() == ["a:1"]
    assert world.pool.members.counts == {"j": (2, 1)}


def test_a_target_may_have_a_rhythm_of_its_own_and_goes_on_with_its_rows_in_another() -> None:
    world = World("a:1 __scrape_interval__=10s", "b:1")
    assert world.pool.scrape_intervals == {5 * SECOND, 10 * SECOND}
    a = world.loop("a:1")
    assert a.options == replace(OPTIONS, scrape_interval=10 * SECOND)
    a.scrape(NOW)
    world.find("a:1 __scrape_interval__=15s", at=NOW + 1000)
    assert world.loop("a:1") is not a
    assert world.up("a:1", NOW + 1000) == 0


def test_targets_that_are_wrong_or_dropped_are_counted_and_told_of_but_not_scraped() -> None:
    drop = RelabelConfig(Action.DROP, ("pool",), regex="old")
    world = World("a:1", "b:1 pool=old", "c:1/metrics", settings=replace(SETTINGS, relabel_configs=(drop,)))
    assert world.instances() == ["a:1"]
    assert world.pool.members.counts == {"j": (3, 1)}
    assert [one.error for one in world.pool.members.found["j"]] == ["", "", '"c:1/metrics" is not a valid hostname']


def test_probes_follow_the_targets() -> None:
    world = World("a:1", "b:1", probe=ProbeOptions(scrape=OPTIONS))
    probers = {prober.target.labels.value("instance"): prober for prober in world.pool.members.probers.values()}
    assert list(probers) == ["a:1", "b:1"]
    world.find("b:1 __scrape_interval__=10s", "c:1")
    left = {prober.target.labels.value("instance"): prober for prober in world.pool.members.probers.values()}
    assert list(left) == ["b:1", "c:1"]
    assert left["b:1"].interval == 10 * SECOND
    assert probers["a:1"].is_stopped


def test_what_has_not_changed_is_not_worked_out_again() -> None:
    world = World("a:1")
    before = world.pool.members
    assert not world.pool.sync(NOW)
    assert world.pool.members is before


def test_new_targets_keep_what_the_rules_read() -> None:
    world = World()
    world.pool.want({"up"})
    world.find("a:1")
    assert world.loop("a:1").wanted == {"up"}


def test_another_configuration_goes_on_with_the_targets_that_were_found_meanwhile() -> None:
    world = World("a:1")
    other = Pool([world.job], world.window, world.pool)
    other.want({"up"})
    world.find("b:1")
    other.take_over(world.pool, NOW)
    (loop,) = other.members.loops.values()
    assert loop is world.loop("b:1")
    assert not loop.is_stopped
    assert loop.wanted == {"up"}


def test_it_is_complete_when_everybody_has_answered() -> None:
    world = World()
    assert world.pool.is_complete
    world.provider.answered.clear()
    assert not world.pool.is_complete
