"""The probes of one target on a time line: what is asked when, what stands in the window, and when it ends."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import pytest

from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.model.sample import is_stale
from monitor.model.target import Target
from monitor.probe.loop import ProbeLoop
from monitor.probe.options import CanaryOptions, Probe, ProbeOptions
from monitor.probe.questions import Round
from monitor.probe.readings import NOTHING, Canary, Health, Model, Readings
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.shape import Page, Series
from monitor.storage.window import Window

STEP: Duration = 5 * SECOND
TARGET = Target("vllm", "http://a:1/metrics", Labels.of(job="vllm", instance="a:1"), Labels.of())
OPTIONS = ProbeOptions(ScrapeOptions(scrape_interval=STEP))
WELL = Readings(Health.OK, "0.32.0", (Model("llama", 512),), 0.0)
HEALTH_UP, VERSION, LOAD = "health_up", "version_info", "server_load"


def page(start: float | None = None, **config: str) -> Page:
    """Return a page that tells the start of the process, and of its KV cache."""
    told = {"process_start_time_seconds": (Labels.of({METRIC_NAME: "process_start_time_seconds"}), start)}
    told["other"] = (Labels.of({METRIC_NAME: "other"}), 3.0)
    told["config"] = (Labels.of({METRIC_NAME: "vllm:cache_config_info", **config}), 1.0 if config else None)
    found = [(Series(labels, counter=False), value) for labels, value in told.values() if value is not None]
    return Page([series for series, _ in found], [value for _, value in found])


@dataclass
class Script:
    """Answers each round with what is known by then; `health` None is a target that is well."""

    known: Readings = WELL
    asked: list[tuple[Instant, set[Probe]]] = field(default_factory=list)
    unsettled: Collection[Probe] = ()
    at: Instant = 0

    def __call__(self, due: Collection[Probe], before: Readings) -> Round:
        del before
        self.asked.append((self.at, set(due)))
        return Round(self.known, dict.fromkeys(due), set(due) - set(self.unsettled))

    def times(self, probe: Probe) -> list[int]:
        """Return the slots, as numbers, in which `probe` was due."""
        return [at // STEP for at, due in self.asked if probe in due]


@dataclass
class Bench:
    options: ProbeOptions = OPTIONS
    script: Script = field(default_factory=Script)
    page: Page = field(default_factory=Page)
    errand: Script = field(default_factory=lambda: Script(NOTHING))
    window: Window = field(default_factory=Window)

    def __post_init__(self) -> None:
        self.loop = self.make(self.options)

    def make(self, options: ProbeOptions) -> ProbeLoop:
        return ProbeLoop(TARGET, options, self.window, self.script, errands=(self.errand,), page=lambda: self.page)

    def slots(self, first: int, last: int) -> None:
        """Probe and write in the slots `first` to `last`."""
        for number in range(first, last + 1):
            at = self.script.at = self.errand.at = number * STEP
            self.loop.probe(at)
            if self.loop.has_errands(at):
                self.loop.run_errands(at)
            self.loop.write(at)

    def line(self, name: str, **labels: str) -> str:
        """Return the series as a time line: its values, `.` where there is none."""
        matchers = [equal(METRIC_NAME, "vllm_monitor_target_" + name), *(equal(*pair) for pair in labels.items())]
        (column,) = self.window.select(matchers)
        times, _ = column.block.view
        values, first = column.view
        shown = ["."] * first + ["." if is_stale(value) else f"{value:g}" for value in values]
        return "".join(shown + ["."] * (len(times) - len(shown)))


def test_each_slot_has_what_is_known_by_then() -> None:
    bench = Bench()
    bench.slots(1, 2)
    bench.script.known = replace(WELL, health=Health.UNAVAILABLE, server_load=7.0)
    bench.slots(3, 4)
    bench.script.known = replace(NOTHING, health=Health.REFUSED)
    bench.slots(5, 6)
    assert bench.line(HEALTH_UP) == "110000"
    assert bench.line("health", result="unavailable") == "001100"
    assert bench.line("health", result="refused") == "000011"
    assert bench.line(LOAD) == "0077.."
    assert bench.line(VERSION, version="0.32.0") == "1111.."


def test_health_and_load_are_asked_at_every_slot_the_others_now_and_then() -> None:
    bench = Bench()
    bench.slots(1, 130)
    assert bench.script.times(Probe.HEALTH) == list(range(1, 131))
    assert bench.script.times(Probe.LOAD) == list(range(1, 131))
    assert bench.script.times(Probe.VERSION) == [1, 61, 121]
    assert bench.script.times(Probe.MODELS) == [1, 61, 121]
    assert bench.errand.times(Probe.EXPOSURE) == [1]


def test_what_is_switched_off_is_never_asked() -> None:
    bench = Bench(replace(OPTIONS, load=None, version=None, exposure=None, health=15 * SECOND))
    bench.slots(1, 7)
    assert bench.script.times(Probe.LOAD) == bench.script.times(Probe.VERSION) == []
    assert bench.script.times(Probe.HEALTH) == [1, 4, 7]
    assert bench.errand.asked == []
    # Between two questions the last answer stands.
    assert bench.line(HEALTH_UP) == "1111111"


def test_what_is_not_there_is_asked_for_once_a_minute() -> None:
    bench = Bench(script=Script(unsettled={Probe.LOAD, Probe.VERSION}))
    bench.slots(1, 65)
    assert bench.script.times(Probe.LOAD) == [1, 13, 25, 37, 49, 61]
    assert bench.script.times(Probe.VERSION) == [1, 61]


@pytest.mark.parametrize("health", [Health.REFUSED, Health.TIMEOUT, Health.ERROR])
def test_whoever_comes_back_is_asked_what_it_is_at_once(health: Health) -> None:
    bench = Bench()
    bench.slots(1, 3)
    bench.script.known = replace(NOTHING, health=health)
    bench.slots(4, 5)
    bench.script.known = WELL
    bench.slots(6, 9)
    assert bench.script.times(Probe.VERSION) == [1, 5, 6]
    assert bench.script.times(Probe.MODELS) == [1, 5, 6]
    assert bench.errand.times(Probe.EXPOSURE) == [1, 6]


def test_a_page_that_comes_back_may_be_another_process() -> None:
    bench = Bench(replace(OPTIONS, health=None), page=page(engine="0"))
    bench.slots(1, 3)
    bench.page = Page()
    bench.slots(4, 5)
    bench.page = page(engine="0")
    bench.slots(6, 8)
    assert bench.script.times(Probe.VERSION) == [1, 6]


def test_a_dead_engine_is_not_another_process() -> None:
    bench = Bench()
    bench.slots(1, 2)
    bench.script.known = replace(WELL, health=Health.UNAVAILABLE)
    bench.slots(3, 5)
    assert bench.script.times(Probe.VERSION) == [1]


def test_a_process_that_is_replaced_between_two_slots_is_asked_what_it_is() -> None:
    bench = Bench(page=page(1000.0))
    bench.slots(1, 3)
    bench.page = Page()
    bench.slots(4, 4)
    bench.page = page(1000.0)
    bench.slots(5, 5)
    bench.page = page(2000.0)
    bench.slots(6, 8)
    # In between a scrape has failed, which alone is no reason to ask a second time who is let in.
    assert bench.script.times(Probe.VERSION) == [1, 5, 6]
    assert bench.errand.times(Probe.EXPOSURE) == [1, 6]


def test_the_kv_cache_comes_from_the_page_as_long_as_there_is_one() -> None:
    bench = Bench(page=page(1.0, engine="0", block_size="32", num_gpu_blocks="100"))
    bench.slots(1, 2)
    bench.page = Page()
    bench.slots(3, 3)
    bench.page = page(2.0, engine="0", block_size="16", num_gpu_blocks="100")
    bench.slots(4, 4)
    assert bench.line("kv_cache_tokens", engine="0") == "32003200.1600"
    assert bench.line("max_concurrency", engine="0") == "6.256.25.3.125"


def test_a_round_that_does_not_end_is_believed_for_three_slots_more() -> None:
    bench = Bench()
    bench.slots(1, 1)
    for number in range(2, 8):
        bench.loop.write(number * STEP)
    # Three slots, and what a round may take.
    assert bench.line(HEALTH_UP) == "11111.."
    bench.slots(8, 8)
    assert bench.line(HEALTH_UP) == "11111..1"


def test_the_canary_is_believed_for_three_intervals() -> None:
    options = replace(OPTIONS, canary=CanaryOptions(interval=MINUTE), exposure=None)
    bench = Bench(options, errand=Script(replace(NOTHING, canary=Canary(success=True, seconds=0.5))))
    bench.slots(1, 30)
    assert bench.errand.times(Probe.CANARY) == [1, 13, 25]
    assert bench.line("canary_success") == "1" * 30
    last = 25 * STEP
    assert any("canary" in labels.name for labels, _ in bench.loop.samples(last + 3 * MINUTE))
    assert not any("canary" in labels.name for labels, _ in bench.loop.samples(last + 3 * MINUTE + 1))


def test_the_series_end_with_the_target() -> None:
    bench = Bench()
    bench.slots(1, 2)
    bench.loop.stop(3 * STEP)
    assert bench.line(HEALTH_UP) == "11."
    assert bench.window.select([equal(METRIC_NAME, "vllm_monitor_target_version_info")])[0].newest(0, HOUR) is None


def test_another_way_of_probing_goes_on_with_what_is_known_but_for_what_is_switched_off() -> None:
    bench = Bench()
    bench.slots(1, 2)
    old, bench.loop = bench.loop, bench.make(replace(OPTIONS, load=None))
    bench.loop.take_over(old)
    bench.loop.write(3 * STEP)
    assert bench.line(HEALTH_UP) == "111"
    assert bench.line(LOAD) == "00."
    bench.slots(4, 4)
    assert bench.script.times(Probe.VERSION) == [1, 4]


def test_a_clock_that_is_set_makes_no_hole_and_keeps_nobody_waiting() -> None:
    bench = Bench()
    bench.slots(1000, 1002)
    for part in (bench.window, bench.loop):
        part.shift(-900 * STEP)
    bench.loop.write(103 * STEP)
    bench.slots(104, 170)
    assert set(bench.line(HEALTH_UP)) == {"1"}
    assert bench.script.times(Probe.VERSION) == [1000, 160]


def test_an_answer_that_was_on_its_way_when_the_clock_was_set_keeps_nobody_waiting() -> None:
    bench = Bench()
    bench.slots(1000, 1000)
    bench.slots(100, 102)
    assert bench.script.times(Probe.VERSION) == [1000, 100]
    assert bench.script.times(Probe.HEALTH) == [1000, 100, 101, 102]


def test_the_log_tells_of_a_change_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    bench = Bench()
    bench.slots(1, 2)
    for slot, health in enumerate((Health.UNAVAILABLE, Health.UNAVAILABLE, Health.REFUSED, Health.OK), 3):
        bench.script.known = replace(WELL, health=health)
        bench.slots(slot, slot)
    assert caplog.messages == ["health ok => unavailable", "health unavailable => refused", "health refused => ok"]


def test_what_has_not_been_asked_yet_stays_as_an_earlier_life_left_it() -> None:
    bench = Bench(errand=Script(replace(NOTHING, exposed=(("/v1/models", True),))))
    bench.slots(1, 2)
    bench.loop = bench.make(OPTIONS)
    bench.loop.write(3 * STEP)
    bench.loop.probe(4 * STEP)
    bench.loop.write(4 * STEP)
    bench.loop.run_errands(5 * STEP)
    bench.loop.write(5 * STEP)
    assert bench.line(HEALTH_UP) == "1111"
    assert bench.line("exposed") == "111"


def test_samples_are_the_same_objects_while_nothing_changes() -> None:
    bench = Bench()
    bench.slots(1, 2)
    first, second = (bench.loop.samples(slot * STEP) for slot in (2, 3))
    assert all(one is other for one, other in zip(first, second, strict=True))
