"""
In real time: Prometheus servers with Alertmanagers, and then the daemon on the samples that each of them has scraped.

They scrape a recording that is played back, evaluate the shipped rules at instants of their own, and send their alerts
on. The daemon evaluates at the same instants: everything recorded, every alert and every message must be the same.
"""

import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from math import isnan
from pathlib import Path
from typing import Any

from monitor.backtest.dump import Dump
from monitor.clock import SystemClock
from monitor.embedded import EmbeddedQuery, WindowAppender
from monitor.expressions import check_expr, check_template
from monitor.model.instant import MINUTE, SECOND, Instant, from_seconds, to_seconds
from monitor.model.labels import ALERT_NAME, METRIC_NAME, Labels
from monitor.model.sample import is_stale
from monitor.promql import Engine
from monitor.rules.alerting_rule import ALERT_STATE, ALERTS, ALERTS_FOR_STATE
from monitor.rules.context import Context, Vector
from monitor.rules.group import Group
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RecordingRule
from monitor.storage.window import Window
from tests.differential.server import prometheus
from tests.dispatch.alertmanager import Webhooks, alertmanager, webhooks
from tests.engines import engine
from tests.recorded import RecordedServer, Recording
from tests.sameness.history import STEP
from tests.sameness.moments import Moments, Standing, differences, standing, table

RECORDING = "vllm-0.32.0-overload-1s"
# What these record differs in the first minutes of a counter, and in last digits: docs/prometheus.md says why.
OTHER_ARITHMETIC = ("",)
SUITES = {"Prometheus 3": "newer", "Prometheus 2.42": ""}
_CONFIG = """\
global: {{scrape_interval: 5s, evaluation_interval: 5s}}
rule_files: ["{rules}/*.rules.yaml"]
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{target}"]}}]}}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
"""
_ROUTE = """\
route: {{receiver: here, group_by: ["..."], group_wait: 0s, group_interval: 1s}}
receivers: [{{name: here, webhook_configs: [{{url: "{url}/here"}}]}}]
"""
# An alert, and since when it fires.
_Episode = tuple[Labels, Instant]
# Behind the end of the recording: so long until everything has resolved.
_AFTER = 2 * MINUTE


@dataclass
class PlayedBack:
    """The machine's clock, moved so that the recording begins now."""

    first: Instant
    began: Instant = field(default_factory=lambda: SystemClock().now())

    def now(self) -> Instant:
        return self.first + SystemClock().now() - self.began


def watch(folder: Path, rules: Sequence[Path], say: Callable[[str], None]) -> Iterator[str]:
    """Live through the recording; `say` the tables, and yield what must not be."""
    recording = Recording.load(RECORDING)
    told: dict[str, Webhooks] = {}
    with ExitStack() as stack:
        server = stack.enter_context(RecordedServer(recording, PlayedBack(recording.times[0])))
        for name, suite in SUITES.items():
            home = folder / f"live-{suite or 'older'}"
            (home / "alertmanager").mkdir(parents=True)
            told[name] = stack.enter_context(webhooks())
            route = _ROUTE.format(url=told[name].url)
            theirs = stack.enter_context(alertmanager(home / "alertmanager", route, suite))
            address = theirs.removeprefix("http://")
            config = _CONFIG.format(rules=rules[0].parent, target=server.address, alertmanager=address)
            stack.enter_context(prometheus(engine("prometheus", suite), home, config))
        length = to_seconds(recording.times[-1] - recording.times[0] + _AFTER)
        say(f"two Prometheus servers live through {length:.0f} seconds …")
        threading.Event().wait(length)
    for name, suite in SUITES.items():
        life = _Life(_dumped(suite, folder / f"live-{suite or 'older'}"), rules)
        life.live()
        found = {f"{name}, its rules": life.alerts, "its Alertmanager": life.messages(told[name])}
        if suite not in OTHER_ARITHMETIC:
            found["recorded"] = life.recorded
        say(table(f"{RECORDING}, live in {name}: all shipped rules, each group at its own instants", life.ours, found))
        say(f"{life.evaluations} evaluations of groups, {life.compared} recorded samples, {len(life.recorded)} differ")
        yield from (f"{name}, {where}: {one}" for where, wrong in found.items() for one in wrong)


def _dumped(suite: str, home: Path) -> Path:
    path = home / "dump"
    with path.open("wb") as file:
        subprocess.run([engine("promtool", suite), "tsdb", "dump", str(home / "data")], check=True, stdout=file)
    return path


class _Capturing(WindowAppender):
    """Remembers what a group has written."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.written: dict[Labels, float] = {}

    def append(self, owner: Any, at: Instant, samples: Vector) -> None:
        self.written.update(samples)
        super().append(owner, at, samples)


class _Life:
    """What one Prometheus has scraped, recorded and found, and what we find of it."""

    def __init__(self, dump: Path, rules: Sequence[Path]) -> None:
        self.ours: Moments = {}
        self.alerts: list[str] = []
        self.recorded: list[str] = []
        self.evaluations = 0
        self.compared = 0
        self._window = Window(10**15)
        self._appender = _Capturing(self._window)
        groups = read_rules(rules, check_expr, check_template)
        query = EmbeddedQuery(Engine(self._window, default_subquery_step=STEP))
        self._context = Context(query, self._appender)
        self._manager = Manager(groups, self._context, STEP, lambda: 0.0)
        recorded = {rule.name for group in groups for rule in group.rules if isinstance(rule, RecordingRule)}
        # By name, then by instant.
        self._theirs: defaultdict[str, defaultdict[Instant, dict[Labels, float]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._end = 0
        for one in Dump(dump, None).read(0, 10**15):
            samples = list(zip(one.times, one.values, strict=True))
            self._end = max(self._end, samples[-1][0])
            if one.labels.name in recorded or one.labels.name in (ALERTS, ALERTS_FOR_STATE):
                self._keep(one.labels, samples)
            else:
                self._scraped(one.labels, samples)

    def live(self) -> None:
        """Evaluate every group at the instants of theirs, all in order."""
        plan = sorted((at, number) for number, group in enumerate(self._manager.groups) for at in self._instants(group))
        moments: dict[Instant, dict[Labels, Standing]] = {}
        theirs: dict[Instant, dict[Labels, Standing]] = {}
        for at, number in plan:
            group = self._manager.groups[number]
            self._appender.written = {}
            group.evaluate(self._context, at, lambda: 0.0)
            self.evaluations += 1
            self._compare(group, at)
            moments[at] = standing(self._manager)
            theirs[at] = {**moments[at], **self._standing(group, at)}
            gone = set(moments[at]) - set(theirs[at])
            names = {run.spec.name for run in group.alerting}
            mine = {labels for labels in moments[at] if labels.value(ALERT_NAME) in names}
            for labels in mine - set(self._standing(group, at)) | gone:
                theirs[at].pop(labels, None)
        self.ours = moments
        self.alerts = differences(_bare(moments), _bare(theirs))

    def messages(self, told: Webhooks) -> list[str]:
        """Return what their Alertmanager was told and we would not have told, and the other way round."""
        ours, texts = _told(self.ours)
        theirs: dict[_Episode, Instant | None] = {}
        wrong: list[str] = []
        for alert in (alert for _, _, message in told.posted for alert in message["alerts"]):
            labels, begun = Labels.of(alert["labels"]), _instant(alert["startsAt"])
            theirs[labels, begun] = _instant(alert["endsAt"]) if alert["status"] == "resolved" else None
            if Labels.of(alert["annotations"]) not in texts[labels]:
                wrong.append(f"{begun}: {labels}: says {alert['annotations']}")
        for key in sorted(ours.keys() | theirs.keys()):
            if key not in ours or key not in theirs or ours[key] != theirs[key]:
                ends = f"ours ends {ours.get(key, 'never begun')}, theirs {theirs.get(key, 'never begun')}"
                wrong.append(f"{key[1]}: {key[0]}: {ends}")
        return wrong

    def _keep(self, labels: Labels, samples: Sequence[tuple[Instant, float]]) -> None:
        by_instant = self._theirs[labels.name]
        for at, value in samples:
            # A marker, or a quantile of nothing: the dump does not tell them apart.
            if not isnan(value):
                by_instant[at][labels] = value

    def _scraped(self, labels: Labels, samples: Sequence[tuple[Instant, float]]) -> None:
        block = self._window.block(labels)
        column = block.column(labels)
        for at, value in samples:
            columns = () if is_stale(value) else (column,)
            block.append(at, columns, [value] * len(columns))

    def _instants(self, group: Group) -> Sequence[Instant]:
        recorded = [run.spec.name for run in group.rules if isinstance(run.spec, RecordingRule)]
        seen = sorted({at for name in recorded for at in self._theirs[name]})
        if seen:
            return seen
        names = {run.spec.name for run in group.alerting}
        alerts = self._theirs[ALERTS]
        found = sorted(at for at, some in alerts.items() if any(one.value(ALERT_NAME) in names for one in some))
        return range(found[0], self._end - STEP, group.interval) if found else ()

    def _compare(self, group: Group, at: Instant) -> None:
        names = {run.spec.name for run in group.rules if isinstance(run.spec, RecordingRule)}
        ours = {one: value for one, value in self._appender.written.items() if one.name in names and not isnan(value)}
        theirs = {one: value for name in names for one, value in self._theirs[name].get(at, {}).items()}
        self.compared += len(theirs)
        for labels in sorted(ours.keys() | theirs.keys()):
            if ours.get(labels) != theirs.get(labels):
                self.recorded.append(f"{at}: {labels}: ours {ours.get(labels)}, theirs {theirs.get(labels)}")

    def _standing(self, group: Group, at: Instant) -> dict[Labels, Standing]:
        names = {run.spec.name for run in group.alerting}
        since = {one.without((METRIC_NAME,)): value for one, value in self._theirs[ALERTS_FOR_STATE][at].items()}
        found: dict[Labels, Standing] = {}
        for one in self._theirs[ALERTS][at]:
            labels = one.without((METRIC_NAME, ALERT_STATE))
            if one.value(ALERT_NAME) in names:
                found[labels] = Standing(one.value(ALERT_STATE), from_seconds(since[labels]))
        return found


def _told(moments: Moments) -> tuple[dict[_Episode, Instant | None], Mapping[Labels, set[Labels]]]:
    """Return when each alert that fired was over (None: it is not), and all that it said in the meantime."""
    episodes: dict[_Episode, Instant | None] = {}
    texts: defaultdict[Labels, set[Labels]] = defaultdict(set)
    since: dict[Labels, Instant] = {}
    for at, now in moments.items():
        firing = {labels: one.annotations for labels, one in now.items() if one.annotations is not None}
        for labels, text in firing.items():
            episodes.setdefault((labels, since.setdefault(labels, at)), None)
            texts[labels].add(text)
        for labels in since.keys() - firing.keys():
            episodes[labels, since.pop(labels)] = at
    return episodes, texts


def _bare(moments: Mapping[Instant, Mapping[Labels, Standing]]) -> Moments:
    """Return the moments without texts: the series have none, and messages are compared by themselves."""
    return {
        at: {labels: Standing(one.state, one.active_at) for labels, one in now.items()} for at, now in moments.items()
    }


def _instant(written: str) -> Instant:
    """Return RFC 3339 in milliseconds, the rest cut off as Prometheus cuts it."""
    whole, _, rest = written.rstrip("Z").partition(".")
    at = datetime.fromisoformat(f"{whole}+00:00").timestamp()
    return round(at) * SECOND + int((rest + "000")[:3])
