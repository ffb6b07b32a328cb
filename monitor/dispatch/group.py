"""An aggregation group: alerts that travel together, and when they next do."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from monitor.dispatch.route import Route
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import INSTANCE, JOB, Labels


def group_key(route: Route, labels: Labels) -> str:
    """Return what names a group in the log and to receivers, as Alertmanager writes it."""
    return f"{route.key}:{labels}"


@dataclass
class AggregationGroup:
    """
    Knows when it is due; neither sleeps nor sends. `owed` are its alerts that resolved while they could not be told.

    reference: Alertmanager, dispatch/dispatch.go (aggrGroup).
    """

    route: Route
    labels: Labels
    due_at: Instant | None = None
    alerts: dict[Labels, Alert] = field(default_factory=dict)
    owed: frozenset[Labels] = frozenset()

    @property
    def key(self) -> str:
        return group_key(self.route, self.labels)

    def insert(self, alert: Alert, now: Instant) -> None:
        """Take the newest word of an alert; the first one starts the clock."""
        self.alerts[alert.labels] = alert
        if self.due_at is None:
            # An alert that has stood for longer than group_wait (a restart) is told at once.
            overdue = alert.starts_at + self.route.group_wait < now
            self.due_at = now if overdue else now + self.route.group_wait

    def flush(self, now: Instant) -> tuple[Alert, ...]:
        """Return the alerts of this flush; the next one is a group_interval away."""
        self.due_at = now + self.route.group_interval
        return self.in_order()

    def in_order(self) -> tuple[Alert, ...]:
        """Return the alerts in the order people read them."""
        return tuple(sorted(self.alerts.values(), key=_reading_order))

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        if self.due_at is not None:
            self.due_at += by
        self.alerts = {labels: alert.shifted(by) for labels, alert in self.alerts.items()}

    def settle(self, flushed: Iterable[Alert], now: Instant) -> None:
        """
        Drop the resolved alerts of a flush that went well.

        Only those that are unchanged since: one that began to fire again meanwhile must not be lost.
        """
        for alert in flushed:
            if alert.resolved(now) and self.alerts.get(alert.labels) is alert:
                del self.alerts[alert.labels]


def _reading_order(alert: Alert) -> tuple[str, str, Labels]:
    return alert.labels.value(JOB), alert.labels.value(INSTANCE), alert.labels
