"""The daemon's pipeline as a generator of alerts: a page that is scraped, rules, and what dispatch is told of them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from rich.console import Console

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import Dispatcher
from monitor.metrics import Metrics
from monitor.model.alert import Alert
from monitor.model.instant import SECOND, Instant
from monitor.model.labels import Labels
from monitor.pipeline import Pipeline
from monitor.replay import replay
from monitor.rules.alerting import AlertState
from monitor.rules.group import Group
from monitor.storage.window import Window
from monitor.web import views
from tests.recorded import RecordedServer, Recording

START: Instant = 1_700_000_010_000
# Of the scrapes, and of the groups that name none.
STEP = 30 * SECOND
_LETTERS = {AlertState.INACTIVE: "r", AlertState.PENDING: "p", AlertState.FIRING: "f"}


class Told(Dispatcher):
    """A dispatcher that also notes what it is told, in order."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.heard: list[Alert] = []

    def insert(self, alerts: Iterable[Alert], now: Instant, *, timeout: bool = False) -> None:
        known = list(alerts)
        self.heard += known
        super().insert(known, now, timeout=timeout)


@dataclass
class Generator:
    """What was told and what the states were is noted step by step; `number` is the step to come."""

    pipeline: Pipeline
    clock: VirtualClock
    dispatcher: Told
    number: int = 0
    told: list[list[Alert]] = field(default_factory=list)
    states: list[dict[Labels, str]] = field(default_factory=list)

    def step(self, times: int = 1) -> None:
        """Scrape, evaluate and tell what is due, so many times."""
        for _ in range(times):
            self.dispatcher.heard.clear()
            replay(self.pipeline, self.clock, [self.at(self.number)])
            self.told.append(list(self.dispatcher.heard))
            self.states.append(
                {
                    labels: _LETTERS[alert.state]
                    for group in self.groups
                    for rule in group.alerting
                    for labels, alert in rule.active.items()
                }
            )
            self.number += 1

    @staticmethod
    def at(number: int) -> Instant:
        return START + number * STEP

    @property
    def groups(self) -> list[Group]:
        return list(self.pipeline.manager.groups)

    def life(self, name: str, **labels: str) -> str:
        """Return a letter for each step: `p`ending, `f`iring, `r`esolved, or `-`; of one alert of that name."""
        wanted = {**labels, "alertname": name}.items()
        found = ({state for own, state in step.items() if wanted <= own.as_dict().items()} for step in self.states)
        return "".join(states.pop() if len(states) == 1 else "-" if not states else "?" for states in found)

    def hearing(self, name: str, **labels: str) -> str:
        """Return a letter for each step: `F`iring, `R`esolved, or `-` where nothing was told of one such alert."""
        wanted = {**labels, "alertname": name}.items()
        told = ([one for one in step if wanted <= one.labels.as_dict().items()] for step in self.told)
        return "".join("-" if not step else "F" if step[0].ends_at is None else "R" for step in told)

    def alerts(self, name: str) -> list[Alert]:
        """Return what was told of that name at the last step."""
        return [one for one in self.told[-1] if one.name == name]

    def query(self, expr: str) -> list[tuple[Labels, float]]:
        """Return the answer to an expression at the time of the last step."""
        return sorted(self.pipeline.manager.context.query(expr, self.at(self.number - 1)))

    def api_rules(self) -> list[dict[str, Any]]:
        """Return the groups of /api/v1/rules."""
        groups: list[dict[str, Any]] = views.rules(self.groups)["groups"]
        return groups

    def api_alerts(self) -> list[dict[str, Any]]:
        """Return the alerts of /api/v1/alerts."""
        alerts: list[dict[str, Any]] = views.alerts(self.groups)["alerts"]
        return alerts


@contextmanager
def generator(folder: Path, rules: str, series: Mapping[str, str]) -> Iterator[Generator]:
    """
    Yield a generator of the alerts of `rules`, the text of a rule file.

    `series` are lines of the page, each with a value a step, `_` where it is missing; the last one goes on for ever.
    """
    (folder / "own.rules.yaml").write_text(rules)
    clock = VirtualClock(START)
    with RecordedServer(_recording(series), clock) as server:
        path = folder / "monitor.yaml"
        path.write_text(
            f"""\
global: {{scrape_interval: 30s, scrape_timeout: 30s, external_labels: {{cluster: c1}}}}
scrape_configs:
  - {{job_name: page, static_configs: [{{targets: ["{server.address}"], labels: {{instance: i}}}}]}}
rule_files: [own.rules.yaml]
route: {{receiver: nobody, group_wait: 0s}}
receivers: [{{name: nobody, console_configs: [{{}}]}}]
web: {{external_url: "http://monitor.example"}}
"""
        )
        config = load(path)
        builder = Builder(clock, Window(), Metrics(CollectorRegistry(), "test"))
        parts = builder.build(config, console=Console(quiet=True))
        dispatcher = Told(config.route, parts.integrations)
        yield Generator(builder.assemble(parts, dispatcher, lambda _: None), clock, dispatcher)


def _recording(series: Mapping[str, str]) -> Recording:
    rows = {line: values.split() for line, values in series.items()}
    steps = max(map(len, rows.values()))
    pages = [
        "".join(
            f"{line} {value}\n" for line, values in rows.items() if (value := values[min(step, len(values) - 1)]) != "_"
        )
        for step in range(steps)
    ]
    return Recording(tuple(START + step * STEP for step in range(steps)), tuple(pages))
