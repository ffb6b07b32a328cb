"""Rules that ask a Prometheus of the tests: what it answers is said expression by expression."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from prometheus_client import CollectorRegistry

from monitor.embedded import EmbeddedQuery, WindowAppender
from monitor.expressions import expressions_of
from monitor.model.alert import Alert
from monitor.model.instant import SECOND, Duration, Instant
from monitor.promql import Engine
from monitor.remote.options import RemoteOptions
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.storage.window import Window
from monitor.upstream.upstream import REASONS, Settings, Upstream
from monitor.upstreammetrics import UpstreamMetrics
from tests.notify.endpoint import Endpoint, Received, endpoint
from tests.rules.life import groups_of
from tests.slackstub.faults import Answer

STEP = 15 * SECOND


@dataclass
class Answers:
    """The result of each expression: labels and a value; what is not named finds nothing. `more` goes with all."""

    results: dict[str, list[tuple[dict[str, str], str]]] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    fault: Answer | None = None
    # Of single expressions.
    faults: dict[str, Answer] = field(default_factory=dict)
    times: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: Received) -> Answer:
        if self.fault is not None:
            return self.fault
        if "/api/v1/rules" in request.path:
            rules = [{"name": name, "type": "recording"} for name in self.rules]
            return Answer(200, json.dumps({"status": "success", "data": {"groups": [{"rules": rules}]}}))
        form = parse_qs(request.body.decode())
        (expr,), (time,) = form["query"], form["time"]
        self.times.append(time)
        self.asked.append(expr)
        if expr in self.faults:
            return self.faults[expr]
        vector = [{"metric": labels, "value": [0, value]} for labels, value in self.results.get(expr, [])]
        body = {"status": "success", "data": {"resultType": "vector", "result": vector}, **self.more}
        return Answer(200, json.dumps(body))


@dataclass
class Asking:
    """Rules at work on what a server answers; `step` by `step`."""

    upstream: Upstream
    manager: Manager
    registry: CollectorRegistry
    served: Endpoint
    answers: Answers
    at: Instant = 1_790_000_010_000

    def step(self, count: int = 1) -> list[Alert]:
        """Evaluate so many times; return what dispatch hears of at the last."""
        alerts: list[Alert] = []
        for _ in range(count):
            self.at += STEP
            alerts = self.evaluate()
        return alerts

    def evaluate(self, interval: Duration | None = None) -> list[Alert]:
        """Evaluate the groups of `interval` (None: all) now."""
        return [*self.manager.evaluate(self.at, interval), *self.upstream.alerts(self.at, interval)]

    def states(self) -> dict[str, str]:
        return {
            alert.labels.value("alertname"): alert.state.value
            for group in self.manager.groups
            for rule in group.alerting
            for alert in rule.active.values()
        }

    def errors(self) -> dict[str, str]:
        return {
            rule.spec.name: verdict.error
            for group in self.manager.groups
            for rule, verdict in zip(group.rules, group.verdicts, strict=True)
        }

    def metric(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"vllm_monitor_prometheus_{name}", labels)


@contextmanager
def asking(rules: str, answers: Answers, **settings: Any) -> Iterator[Asking]:
    registry, window = CollectorRegistry(), Window()
    with endpoint(answers) as served:
        given = Settings(
            RemoteOptions(served.url, timeout=60 * SECOND), "monitor:9109", wait=lambda _: None, **settings
        )
        local = EmbeddedQuery(Engine(window))
        groups = groups_of(rules)
        metrics = UpstreamMetrics(registry, REASONS)
        upstream = Upstream(given, groups, {"vllm_monitor_own", "ALERTS"}, expressions_of, local, metrics)
        context = Context(upstream.query, WindowAppender(window), ahead=upstream.query.ahead)
        manager = Manager(upstream.split.groups, context, STEP, lambda: 0.0)
        try:
            yield Asking(upstream, manager, registry, served, answers)
        finally:
            upstream.stop()
