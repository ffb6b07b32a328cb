"""
The alerts that page, with a scrape every 5 to 30 seconds of which one is missed, evaluated every 15 seconds.

What must fire fires in time and stays; what is well stays quiet. Every server of a story is one instance, so that all
are told in one go.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from monitor.embedded import EmbeddedQuery, WindowAppender
from monitor.expressions import check_expr, check_template
from monitor.model.instant import SECOND
from monitor.model.labels import Labels
from monitor.promql import Engine
from monitor.rules.alerting import AlertState
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.shipped import rules_folder
from monitor.storage.window import Window

EVALUATION, CAUSE, END = 15, 120, 600
INTERVALS, PHASES = (5, 10, 15, 30), (0, 4, 9, 14)
FILES = [rules_folder() / f"{name}.rules.yaml" for name in ("availability", "engine")]

Values = dict[str, float]
Story = Callable[[int], Values]


def healthy(second: int) -> Values:
    return {
        "num_requests_running": 9,
        "num_requests_waiting": 0,
        "kv_cache_usage_perc": 0.3 + second % 7 / 100,
        "generation_tokens_total": 70.0 * second,
        "prompt_tokens_total": 90.0 * second,
        "num_preemptions_total": 0,
    }


def overload(second: int) -> Values:
    # Two scrapes in which the queue is short, as in the recordings.
    waiting = {150: 9.0, 180: 0.0}.get(second - second % 5, 34.0)
    return {**healthy(second), **({"num_requests_waiting": waiting} if second > CAUSE else {})}


def hang(second: int) -> Values:
    return healthy(min(second, CAUSE))


def blocked(second: int) -> Values:
    return {**hang(second), **({"num_requests_running": 0, "num_requests_waiting": 3} if second > CAUSE else {})}


def full(second: int) -> Values:
    return {**healthy(second), **({"kv_cache_usage_perc": 1, "num_requests_waiting": 5} if second > CAUSE else {})}


@dataclass(frozen=True)
class Server:
    """One server of a story: how it is scraped. `missed`: the scrape that fails, counted from the cause; 0: none."""

    story: Story
    interval: int
    phase: int
    missed: int

    @property
    def instance(self) -> str:
        return f"{self.story.__name__}/{self.interval}s/+{self.phase}s/{self.missed}"

    def scrapes(self) -> Iterator[tuple[int, bool]]:
        """Yield when it is scraped, and whether that goes well."""
        slots = range(self.phase % self.interval, END, self.interval)
        behind = [slot for slot in slots if slot > CAUSE]
        for slot in slots:
            yield slot, self.missed == 0 or slot != behind[self.missed]


def live(servers: list[Server]) -> dict[str, list[tuple[int, str]]]:
    """Return for each instance what fires above info: the seconds and the names, evaluation by evaluation."""
    window = Window()
    appender = WindowAppender(window)
    groups = read_rules(FILES, check_expr, check_template)
    manager = Manager(groups, Context(EmbeddedQuery(Engine(window)), appender), EVALUATION * SECOND, lambda: 0.0)
    waiting = {server: list(server.scrapes()) for server in servers}
    fired: dict[str, list[tuple[int, str]]] = {server.instance: [] for server in servers}
    for now in range(0, END, EVALUATION):
        for server, scrapes in waiting.items():
            while scrapes and scrapes[0][0] <= now:
                _scrape(appender, server, *scrapes.pop(0))
        manager.evaluate(now * SECOND)
        for group in manager.groups:
            for rule in group.alerting:
                for alert in rule.active.values():
                    if alert.state is AlertState.FIRING and alert.labels.value("severity") != "info":
                        fired[alert.labels.value("instance")].append((now, rule.spec.name))
    return fired


def _scrape(appender: WindowAppender, server: Server, second: int, good: bool) -> None:  # noqa: FBT001 - a pair's half
    engine = {"job": "vllm", "instance": server.instance, "model_name": "m", "engine": "0"}
    values = server.story(second) if good else {}
    samples = [(Labels.of({"__name__": f"vllm:{name}", **engine}), value) for name, value in values.items()]
    # A series that is not in the next row gets its staleness marker, as after a scrape that failed.
    appender.append((server.instance, "page"), second * SECOND, samples)
    up = Labels.of(__name__="up", job="vllm", instance=server.instance)
    appender.append((server.instance, "up"), second * SECOND, [(up, float(good))])


def servers(story: Story) -> list[Server]:
    return [
        Server(story, interval, phase, missed)
        for interval in INTERVALS
        for phase in PHASES
        for missed in (0, 1, 60 // interval)
    ]


@pytest.mark.parametrize(
    ("story", "alert", "within"),
    [
        (overload, "VLLMOverloaded", 150),
        (hang, "VLLMEngineStuck", 150),
        (blocked, "VLLMAdmissionStalled", 150),
        (full, "VLLMKVCacheFull", 180),
    ],
)
def test_it_is_told_in_time_and_as_long_as_it_lasts(story: Story, alert: str, within: int) -> None:
    late = {30: 30}
    for server, fired in zip(servers(story), live(servers(story)).values(), strict=True):
        times = [second for second, name in fired if name == alert]
        assert times, server
        assert CAUSE < times[0] <= CAUSE + within + late.get(server.interval, 0), server
        assert times == list(range(times[0], END, EVALUATION)), server


def test_a_scrape_that_is_missed_bothers_nobody() -> None:
    assert {name for fired in live(servers(healthy)).values() for _, name in fired} == set()
