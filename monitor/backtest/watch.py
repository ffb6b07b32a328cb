"""At which instants an alerting rule must be evaluated, so that nothing of the life of its alerts is missed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from monitor.backtest.evaluate import Found
from monitor.backtest.order import Member
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.promql.frame import EMPTY_FRAME
from monitor.rules.alerting import RESOLVED_RETENTION, ActiveAlert, AlertState
from monitor.rules.context import Context, Vector

Values = Sequence[float | None]


class Watch:
    """Knows at which instants an alerting rule must be evaluated."""

    def __init__(self, rule: Member) -> None:
        assert rule.alert is not None  # noqa: S101 - only alerts are watched
        self.found = Found((), EMPTY_FRAME)
        self._run = rule.alert
        self._interval = rule.group.interval
        # What labels say may change with the value, and so may a limit that is exceeded.
        self._always = rule.group.spec.limit > 0 or any("{{" in text for _, text in rule.alert.spec.labels)
        self._there: frozenset[Labels] = frozenset()

    def take(self, found: Found) -> set[Instant]:
        """Take what the next instants find; return those at which anything comes, goes or fails."""
        self.found = found
        frame, last = found.frame, len(found.times) - 1
        places: set[int] = set()
        for labels, column in zip(frame.series, frame.columns, strict=True):
            places |= self._changes(column, was=labels in self._there)
        if self._there - set(frame.series):
            places.add(0)
        for place in found.failures:
            places |= {place, min(place + 1, last)}
        self._there = frozenset(
            labels for labels, column in zip(frame.series, frame.columns, strict=True) if column[-1] is not None
        )
        return {found.times[place] for place in places}

    def timers(self, now: Instant) -> Iterator[Instant]:
        """Yield when, after `now`, the times of the alerts run out."""
        spec = self._run.spec
        for alert in self._run.active.values():
            due = _due(alert, spec.for_, spec.keep_firing_for)
            if due is not None and due > now:
                yield -(-due // self._interval) * self._interval

    def failed_at(self, instant: Instant) -> bool:
        """Say whether the expression failed then, which is known already."""
        return self.found.times.index(instant) in self.found.failures

    def context(self, context: Context) -> Context:
        """Return a context in which the rule's own expression is answered."""
        own, plain = self._run.spec.expr, context.query

        def query(expr: str, at: Instant) -> Vector:
            return self.found.at(at) if expr == own else plain(expr, at)

        return replace(context, query=query)

    def _changes(self, column: Values, *, was: bool) -> set[int]:
        """Return the places at which a column, whose series was there before or not, comes or goes."""
        places = {0} if was is (column[0] is None) else set()
        if self._always:
            there = {place for place, value in enumerate(column) if value is not None}
            places |= there | {place + 1 for place in there if place + 1 < len(column)}
        elif None in column:
            gone = [value is None for value in column]
            places |= {place for place in range(1, len(gone)) if gone[place] is not gone[place - 1]}
        return places


def _due(alert: ActiveAlert, hold: Duration, keep_firing: Duration) -> Instant | None:
    if alert.state is AlertState.PENDING:
        return alert.active_at + hold
    if alert.resolved_at is not None:
        return alert.resolved_at + RESOLVED_RETENTION + 1
    return None if alert.keep_firing_since is None else alert.keep_firing_since + keep_firing
