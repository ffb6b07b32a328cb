"""Which rules are blind, as seen on a time line of pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest

from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.model.labels import Labels
from monitor.model.sample import Metadata
from monitor.model.target import Target
from monitor.rules.spec import AlertingRule, RuleGroup
from monitor.scrape.labels import LabelMaker
from monitor.scrape.page import PageReader
from monitor.scrape.shape import Page
from monitor.scrape.text import TEXT
from monitor.scrape.whole import Ingest
from monitor.sight.blindness import Blindness
from monitor.storage.window import Window
from monitor.watching import LEAST, LEAST_WHEN_BLIND, Watch, version_in
from tests.vllm.pages import page

RULES = RuleGroup(
    "kv",
    "kv.rules.yaml",
    rules=(
        AlertingRule("Full", "vllm:gpu_cache_usage_perc > 0.9"),
        AlertingRule("Adapters", "vllm:lora_requests_info > 0"),
        AlertingRule("Waiting", "vllm:num_requests_waiting > 9"),
    ),
)
START: Instant = 1_700_000_000_000


@dataclass
class Server:
    """A target whose page tests put there; counts how often all of it was read."""

    instance: str
    looks: int = 0
    version: str = ""
    _page: Page = field(default_factory=Page)

    @property
    def target(self) -> Target:
        labels = Labels.of(job="vllm", instance=self.instance)
        return Target("vllm", f"http://{self.instance}/metrics", labels, labels)

    @property
    def owner(self) -> str:
        return self.instance

    @property
    def metadata(self) -> Mapping[str, Metadata]:
        return self._page.families

    def shows(self, text: str) -> None:
        self._page = PageReader(Ingest(labels_of=LabelMaker(self.target.labels))).read(text.encode(), TEXT)

    def whole_page(self) -> Page:
        self.looks += 1
        return self._page


def watching(*servers: Server) -> Watch:
    versions = {server.target: server for server in servers}
    return Watch([RULES], servers, lambda target, _: versions[target].version)


def blind(watch: Watch) -> list[str]:
    return [f"{one.target.value('instance')} {one.rule} {one.blind.reason.value}" for one in watch.sight.findings]


def server(version: str, instance: str = "a:8000") -> Server:
    made = Server(instance, version=version)
    made.shows(page(version))
    return made


def test_an_upgrade_makes_a_rule_blind_as_soon_as_the_server_says_its_version() -> None:
    a = server("0.9.2")
    watch = watching(a)
    watch.step(START)
    assert blind(watch) == ["a:8000 Adapters condition"]
    a.shows(page("0.33.0"))
    watch.step(START + 15 * SECOND)
    assert blind(watch) == ["a:8000 Adapters condition"]
    a.version = "0.33.0"
    watch.step(START + 30 * SECOND)
    assert blind(watch) == ["a:8000 Full renamed", "a:8000 Adapters condition"]


def test_a_page_that_stays_is_looked_at_once() -> None:
    a = server("0.33.0")
    watch = watching(a)
    for minute in range(30):
        watch.step(START + minute * MINUTE)
    assert a.looks == 1


def test_a_page_that_changes_all_the_time_is_looked_at_now_and_then() -> None:
    calm, troubled = server("0.9.2"), server("0.33.0", "b:8000")
    watch = watching(calm, troubled)
    for step in range(41):
        for one in (calm, troubled):
            one.shows(page(one.version))
        watch.step(START + step * 15 * SECOND)
    assert calm.looks == 1 + 10 * MINUTE // LEAST
    assert troubled.looks == 1 + 10 * MINUTE // LEAST_WHEN_BLIND


def test_nothing_is_said_before_every_page_was_seen() -> None:
    servers = [server("0.33.0", f"{number:02}:8000") for number in range(25)]
    watch = watching(*servers, Server("down:8000"))
    said = []
    for step in range(4):
        watch.step(START + step * SECOND)
        said.append((watch.sight.servers, len(watch.sight.findings)))
    assert said == [(0, 0), (0, 0), (25, 50), (25, 50)]


def test_a_reload_goes_on_with_what_was_seen_and_forgets_who_is_gone() -> None:
    a, b = server("0.33.0"), server("0.33.0", "b:8000")
    old = watching(a, b)
    old.step(START)
    new = watching(b, server("0.33.0", "c:8000"))
    new.take_over(old)
    assert blind(new) == ["b:8000 Full renamed", "b:8000 Adapters condition"]
    new.step(START + MINUTE)
    assert {line.split()[0] for line in blind(new)} == {"b:8000", "c:8000"}


def test_what_is_not_explained_becomes_a_series() -> None:
    watch = watching(server("0.33.0"))
    watch.step(START)
    registry = CollectorRegistry()
    registry.register(Blindness(lambda: watch.sight.unexplained))
    labels = {"job": "vllm", "instance": "a:8000", "group": "kv", "rule": "Full", "reason": "renamed"}
    assert registry.get_sample_value("vllm_monitor_rule_blind", labels) == 1
    assert generate_latest(registry).decode().count("vllm_monitor_rule_blind{") == 1


def test_the_newest_version_in_the_window_counts_for_a_quarter_of_an_hour() -> None:
    window = Window()
    a = Server("a:8000")
    block = window.block("probe")
    for at, version in ((START, "0.9.2"), (START + MINUTE, "0.33.0")):
        labels = a.target.labels.with_(__name__="vllm_monitor_target_version_info", version=version)
        block.append(at, (block.column(labels),), (1.0,))
    version_of = version_in(window)
    assert version_of(a.target, START + MINUTE) == "0.33.0"
    assert version_of(a.target, START + 20 * MINUTE) == ""
    assert version_of(Server("b:8000").target, START) == ""
