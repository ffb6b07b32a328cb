"""
Runs one unit test.

reference: promtool 3.5.3, observed. All groups are evaluated at the start and every evaluation interval from then on,
whatever their own intervals are, until the last question. At each evaluation only samples up to that time are there.
Alerts are looked at after the newest evaluation that is not behind the time they are asked for; expressions when all
evaluations are done.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from monitor.model.instant import Duration, Instant, format_duration
from monitor.model.labels import Labels
from monitor.model.sample import is_stale
from monitor.rules.alerting import ActiveAlert, AlertState
from monitor.rules.context import Appender, Context, Query
from monitor.rules.errors import RuleError
from monitor.rules.group import Group, Health
from monitor.rules.manager import Manager
from monitor.rules.spec import RuleGroup
from monitor.rules.unittest.compare import Line, compare_alerts, compare_samples
from monitor.rules.unittest.one_truth import OneTruth
from monitor.rules.unittest.spec import AlertCase, ExpectedAlert, ExprCase, InputSeries, UnitTest, UnitTestFile
from monitor.yamldoc.mistake import NOWHERE, Place


@dataclass(frozen=True, slots=True)
class Storage:
    """An empty storage: what is appended is what the query finds."""

    query: Query
    appender: Appender


# Opens a storage; told the step of subqueries that name none.
Open = Callable[[Duration], Storage]


@dataclass(frozen=True, slots=True)
class Failure:
    """What is wrong: a question that got another answer than expected (`lines`), or an error (`title` says it all)."""

    title: str
    lines: tuple[Line, ...] = ()
    place: Place = NOWHERE


def run_test(test: UnitTest, file: UnitTestFile, groups: Iterable[RuleGroup], open_storage: Open) -> list[Failure]:
    """Return what is wrong with `groups`, the groups of the file's rule files in order, in the eyes of `test`."""
    storage = open_storage(file.evaluation_interval)
    stage = _Stage(test, file, _ordered(groups, file.group_eval_order), storage)
    failures: list[Failure] = []
    for at in range(test.start, test.start + test.duration + 1, file.evaluation_interval):
        errors = stage.evaluate(at)
        if errors:
            return failures + errors
        failures += stage.alert_failures(at)
    return [*failures, *stage.expr_failures()]


def _ordered(groups: Iterable[RuleGroup], order: Sequence[str]) -> list[RuleGroup]:
    # A group that is not mentioned goes with the first that is, as in promtool; there it may be before or behind it.
    rank = {name: number for number, name in enumerate(order)}
    return sorted(groups, key=lambda group: rank.get(group.name, 0))


class _Stage:
    """The series and the groups of a test, and the time they have reached."""

    def __init__(self, test: UnitTest, file: UnitTestFile, groups: list[RuleGroup], storage: Storage) -> None:
        self._test = test
        self._file = file
        self._query = storage.query
        self._appender = OneTruth(storage.appender)
        context = Context(storage.query, self._appender, test.external_labels, test.external_url)
        # Their own intervals would make pauses of the time between two evaluations.
        every = [replace(group, interval=None) for group in groups]
        self._manager = Manager(every, context, file.evaluation_interval, stopwatch=lambda: 0.0)
        self._inputs = [
            _Input(number, series, test.start, test.interval, self._appender)
            for number, series in enumerate(test.series)
        ]
        self._waiting = sorted(test.alert_cases, key=lambda case: case.at)

    def evaluate(self, at: Instant) -> list[Failure]:
        """Bring samples and rules up to `at`; returns the rules that could not be evaluated."""
        for series in self._inputs:
            series.append_until(at)
        self._manager.evaluate(at)
        time = format_duration(at - self._test.start)
        return [
            Failure(f"rule {name} at {time}: {error}")
            for group in self._manager.groups
            for name, error in self._errors(group)
        ]

    def alert_failures(self, at: Instant) -> Iterator[Failure]:
        """Yield what is wrong with the alerts that are asked for until the next evaluation."""
        until = at - self._test.start + self._file.evaluation_interval
        while self._waiting and self._waiting[0].at < until:
            yield from self._alert_failure(self._waiting.pop(0))

    def expr_failures(self) -> Iterator[Failure]:
        for case in self._test.expr_cases:
            title = f"expr {case.expr} at {format_duration(case.at)}"
            try:
                lines = self._expr_lines(case)
            except RuleError as err:
                yield Failure(f"{title}: {err}", place=case.place)
            else:
                if lines:
                    yield Failure(title, lines, case.place)

    def _errors(self, group: Group) -> Iterator[tuple[str, str]]:
        for owner, rule, verdict in zip(group.owners, group.rules, group.verdicts, strict=True):
            error = verdict.error if verdict.health is Health.ERR else self._appender.refused.get(owner)
            if error:
                yield rule.spec.name, error

    def _expr_lines(self, case: ExprCase) -> tuple[Line, ...]:
        got = self._query(case.expr, self._test.start + case.at)
        return compare_samples(case.expected, got, fuzzy=self._file.fuzzy_compare)

    def _alert_failure(self, case: AlertCase) -> Iterator[Failure]:
        alerts = list(self._alerts(case.alertname))
        firing = [ExpectedAlert(alert.labels, alert.annotations) for alert in _in(AlertState.FIRING, alerts)]
        pending = [alert.labels for alert in _in(AlertState.PENDING, alerts)]
        lines = compare_alerts(case.expected, firing, pending)
        if lines:
            yield Failure(f"alert {case.alertname} at {format_duration(case.at)}", lines, case.place)

    def _alerts(self, name: str) -> Iterator[ActiveAlert]:
        for group in self._manager.groups:
            for rule in group.alerting:
                if rule.spec.name == name:
                    yield from rule.active.values()


def _in(state: AlertState, alerts: Iterable[ActiveAlert]) -> list[ActiveAlert]:
    return [alert for alert in alerts if alert.state is state]


class _Input:
    """An input series that is written bit by bit, by a writer of its own: its gaps are no ends of the series."""

    def __init__(
        self, number: int, series: InputSeries, start: Instant, interval: Duration, appender: Appender
    ) -> None:
        self._owner = ("input_series", number)
        self._labels: Labels = series.labels
        self._samples = series.samples(start, interval)
        self._next = next(self._samples, None)
        self._appender = appender

    def append_until(self, until: Instant) -> None:
        while self._next is not None and self._next[0] <= until:
            at, value = self._next
            self._appender.append(self._owner, at, [] if is_stale(value) else [(self._labels, value)])
            self._next = next(self._samples, None)
