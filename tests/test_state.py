"""What a daemon goes on with after it was killed: rules, dispatch and outbox together, on a clock that is moved."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import Dispatcher
from monitor.dispatch.notification import Notification
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE
from monitor.model.labels import METRIC_NAME, Labels
from monitor.pipeline import Pipeline
from monitor.state import State
from monitor.storage.window import Window

CONFIG = """\
global: {scrape_interval: 1m}
scrape_configs: [{job_name: none, static_configs: []}]
rule_files: [own.rules.yaml]
route: {receiver: oncall, group_by: [alertname], group_wait: 0s, group_interval: 5m}
receivers: [{name: oncall, console_configs: [{}]}]
storage: {path: state}
"""
RULES = """\
groups: [{name: own, rules: [{alert: High, expr: level > 0, for: 1m}]}]
"""
LEVEL = Labels.of({METRIC_NAME: "level"})


@dataclass
class FakeNotifier:
    """Hears what it is told."""

    heard: list[str] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        self.heard.append("over" if notification.is_resolved else "fires")


@dataclass
class House:
    """A folder with a configuration; `notifier` outlives every daemon."""

    folder: Path
    notifier: FakeNotifier = field(default_factory=FakeNotifier)
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(MINUTE))

    def __post_init__(self) -> None:
        (self.folder / "monitor.yaml").write_text(CONFIG)
        (self.folder / "own.rules.yaml").write_text(RULES)

    @contextmanager
    def life(self) -> Iterator[Pipeline]:
        """Run a daemon that is killed in the end: nothing is said or saved any more."""
        config = load(self.folder / "monitor.yaml")
        metrics = Metrics(CollectorRegistry(), "test")
        builder = Builder(self.clock, Window(), metrics)
        parts = builder.build(config)
        parts = replace(parts, notifiers=dict.fromkeys(parts.notifiers, self.notifier))
        state = State.open(config.storage.path, self.clock, metrics)
        dispatcher = Dispatcher(config.route, parts.integrations, log=state.log)
        pipeline = builder.assemble(parts, dispatcher, lambda _: None, state.journal)
        state.restore(pipeline, self.clock.now())
        yield pipeline
        state.close()

    def live(self, pipeline: Pipeline, *levels: float) -> None:
        """Let a minute pass for each of `levels`."""
        for level in levels:
            block = pipeline.window.block("test")
            block.append(self.clock.now(), [block.column(LEVEL)], [level])
            pipeline.round(self.clock.now())
            self.clock.advance(MINUTE)


def test_an_end_that_nobody_had_heard_of_is_told_although_the_alert_is_pending_again(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as pipeline:
        house.live(pipeline, 1, 1, 0)
        assert house.notifier.heard == ["fires"], "the group has been told a minute ago and waits"
    with house.life() as pipeline:
        house.live(pipeline, 1, 0)
    assert house.notifier.heard == ["fires", "over"]


def test_an_alert_that_fires_on_over_a_restart_is_not_told_again(tmp_path: Path) -> None:
    house = House(tmp_path)
    for levels in ((1, 1), (1, 1, 1), (1, 0)):
        with house.life() as pipeline:
            house.live(pipeline, *levels)
    assert house.notifier.heard == ["fires"]


def test_what_was_read_at_the_start_is_restored_though_the_disk_fails_right_after(tmp_path: Path) -> None:
    house = House(tmp_path)
    with house.life() as pipeline:
        house.live(pipeline, 1, 1)
    config = load(tmp_path / "monitor.yaml")
    metrics = Metrics(CollectorRegistry(), "test")
    builder = Builder(house.clock, Window(), metrics)
    parts = builder.build(config)
    state = State.open(config.storage.path, house.clock, metrics)
    pipeline = builder.assemble(parts, Dispatcher(config.route, parts.integrations), lambda _: None, state.journal)
    state.close()
    state.restore(pipeline, house.clock.now())
    assert [
        alert.state for group in pipeline.manager.groups for rule in group.alerting for alert in rule.active.values()
    ]
