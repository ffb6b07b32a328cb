"""Alerts in, notifications out: routing, grouping, and leaving out what a receiver knows already."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from monitor.dispatch.group import AggregationGroup, group_key
from monitor.dispatch.nflog import Entry, LogKey, NotificationLog, decide
from monitor.dispatch.notification import Notification, Reason
from monitor.dispatch.route import Route
from monitor.dispatch.store import AlertStore
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, Duration, Instant
from monitor.model.labels import Labels

# How long an entry of the notification log is good for (Alertmanager's data retention).
LOG_RETENTION: Duration = 120 * HOUR
# So many alerts are held at least before those that are posted are refused. What the rules find is never refused.
MOST_ALERTS = 5_000

# One step between a flushed group of a route and its receiver: returns the notification with the alerts that are left.
Stage = Callable[[Notification, Route], Notification]


@dataclass(frozen=True, slots=True)
class Integration:
    """
    One way of a receiver to be told; `name` is unique, e.g. `oncall/slack[0]`.

    One that `edits` what it has told hears at every flush how things stand, also when nothing is new.
    """

    name: str
    send_resolved: bool
    edits: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notification on its way to one integration."""

    integration: str
    notification: Notification

    @property
    def key(self) -> LogKey:
        """The group and the integration: what is told under one key is told in order."""
        return (self.notification.group_key, self.integration)


@dataclass(frozen=True, slots=True)
class Flush:
    """What a look at the due groups came to: who must be told what, and the log entries that say so."""

    deliveries: tuple[Delivery, ...] = ()
    entries: tuple[tuple[LogKey, Entry], ...] = ()


class Dispatcher:
    """
    Holds the aggregation groups and the notification log. Safe to call from any thread.

    `receivers` maps a receiver's name to its integrations; `stages` may take alerts out of a notification (inhibition,
    mute times, silences), in that order. `store` is told of every alert first; stages may read it.
    """

    def __init__(
        self,
        route: Route,
        receivers: Mapping[str, Sequence[Integration]],
        stages: Sequence[Stage] = (),
        log: NotificationLog | None = None,
        store: AlertStore | None = None,
    ) -> None:
        self._route = route
        self._receivers = receivers
        self._stages = stages
        self._log = log if log is not None else NotificationLog()
        self._store = store if store is not None else AlertStore()
        self._groups: dict[tuple[str, Labels], AggregationGroup] = {}
        self._entries: list[tuple[LogKey, Entry]] = []
        self._lock = threading.Lock()

    def insert(self, alerts: Iterable[Alert], now: Instant, *, timeout: bool = False) -> None:
        """
        Take the newest word of each alert. One that is over and that nobody has heard of is nobody's news.

        `timeout`: nobody said when they end; their `ends_at` is when they count as over if nobody says more.
        """
        with self._lock:
            for alert in alerts:
                self._take(alert, now, timeout=timeout)

    def admit(self, alerts: Iterable[Alert], now: Instant, *, timeout: bool = False) -> int:
        """
        Take alerts as `insert` does, but new ones only while fewer than MOST_ALERTS are held: for what others post.

        Returns how many of them were left out.
        """
        left_out = 0
        with self._lock:
            held = self._store.labels().union(*(group.alerts for group in self._groups.values()))
            for alert in alerts:
                if alert.labels in held or len(held) < MOST_ALERTS:
                    held.add(alert.labels)
                    self._take(alert, now, timeout=timeout)
                else:
                    left_out += 1
        return left_out

    def due(self, now: Instant) -> Flush:
        """Flush the groups that are due; what comes of it is to be kept before anybody is told."""
        with self._lock:
            self._log.expire(now - LOG_RETENTION)
            self._store.expire(now)
            self._entries = []
            deliveries: list[Delivery] = []
            for key, group in list(self._groups.items()):
                if group.due_at is not None and group.due_at <= now:
                    deliveries += self._flush(group, now)
                if not group.alerts:
                    del self._groups[key]
            return Flush(tuple(deliveries), tuple(self._entries))

    def next_due(self) -> Instant | None:
        """Return when the next group is due, or None when there is none."""
        with self._lock:
            return min((group.due_at for group in self._groups.values() if group.due_at is not None), default=None)

    def groups(self) -> list[tuple[Route, Labels, tuple[Alert, ...]]]:
        """Return every group: its route, its labels and its alerts in the order people read them."""
        with self._lock:
            return [(group.route, group.labels, group.in_order()) for group in self._groups.values()]

    def shift(self, by: Duration) -> Flush:
        """The clock was set by so much: everything moves along; returns the log, to be kept as it is now."""
        with self._lock:
            for group in self._groups.values():
                group.shift(by)
            self._log.shift(by)
            self._store.shift(by)
            return Flush(entries=tuple(self._log.entries.items()))

    def reconfigure(
        self, route: Route, receivers: Mapping[str, Sequence[Integration]], stages: Sequence[Stage], now: Instant
    ) -> None:
        """
        Use another route tree; the alerts are sorted into it anew, and the log goes on.

        A group that exists on both sides keeps its clock, so a reload neither hastens nor delays a notification.
        """
        with self._lock:
            old, self._groups = self._groups, {}
            self._route, self._receivers, self._stages = route, receivers, stages
            for group in old.values():
                for alert in group.alerts.values():
                    for node in route.match(alert.labels):
                        self._insert(node, alert, now, keep_resolved=True)
            for key, group in self._groups.items():
                if key in old:
                    group.due_at, group.owed = old[key].due_at, old[key].owed

    def _take(self, received: Alert, now: Instant, *, timeout: bool) -> None:
        alert = self._store.put(received, now, timeout=timeout)
        for route in self._route.match(alert.labels):
            self._insert(route, alert, now)

    def _insert(self, route: Route, alert: Alert, now: Instant, *, keep_resolved: bool = False) -> None:
        labels = route.group_labels(alert.labels)
        key = (route.key, labels)
        group = self._groups.get(key)
        known = group is not None and alert.labels in group.alerts
        if alert.resolved(now) and not (known or keep_resolved or self._told(route, labels, alert)):
            return
        if group is None:
            group = self._groups[key] = AggregationGroup(route, labels)
        group.insert(alert, now)

    def _told(self, route: Route, group: Labels, alert: Alert) -> bool:
        """Say whether somebody was told, perhaps before a restart, that the alert fires."""
        key = group_key(route, group)
        integrations = self._receivers.get(route.receiver, ())
        return any(self._log.is_told_firing(key, one.name, alert.labels) for one in integrations)

    def _flush(self, group: AggregationGroup, now: Instant) -> list[Delivery]:
        alerts = group.flush(now)
        seen = tuple(_as_of(alert, now) for alert in alerts)
        whole = Notification(group.route.receiver, group.key, group.labels, seen, now, Reason.NOTHING_NEW)
        for stage in self._stages:
            whole = stage(whole, group.route)
        owed = self._owed(group, whole)
        deliveries = [
            delivery
            for integration in self._receivers.get(group.route.receiver, ())
            if whole.alerts and (delivery := self._deduplicate(integration, whole, group.route)) is not None
        ]
        group.settle([alert for alert in alerts if alert.labels not in owed], now)
        group.owed = owed
        return deliveries

    def _owed(self, group: AggregationGroup, left: Notification) -> frozenset[Labels]:
        """
        Return the alerts that resolved while they are muted, though somebody was told that they fire.

        Alertmanager drops them: nobody hears that they are over, nor, for a repeat_interval, that they fire anew. Here
        they stay in their group until they may be told. `left` is what is not muted.
        """
        heard = {alert.labels for alert in left.alerts}
        return frozenset(
            labels
            for labels, alert in group.alerts.items()
            if alert.ends_at is not None and left.now - LOG_RETENTION < alert.ends_at <= left.now
            if labels not in heard and (labels in group.owed or self._told(group.route, group.labels, alert))
        )

    def _deduplicate(self, integration: Integration, whole: Notification, route: Route) -> Delivery | None:
        key = (whole.group_key, integration.name)
        firing = frozenset(alert.labels for alert in whole.firing)
        resolved = frozenset(alert.labels for alert in whole.resolved)
        reason = decide(
            self._log.get(key),
            firing,
            resolved,
            now=whole.now,
            repeat_interval=route.repeat_interval,
            send_resolved=integration.send_resolved,
        )
        if reason.sends:
            entry = Entry(whole.now, firing, resolved)
            self._log.record(key, entry)
            self._entries.append((key, entry))
        elif integration.edits and firing:
            reason = Reason.REFRESH
        else:
            return None
        if reason is Reason.ALL_RESOLVED and not integration.send_resolved:
            return None
        told = whole.alerts if integration.send_resolved else whole.firing
        return Delivery(integration.name, replace(whole, alerts=told, reason=reason, id=_id(key, whole.now)))


def _id(key: LogKey, now: Instant) -> str:
    """Return a name for what is told under `key` at `now`: a group tells an integration at most once an instant."""
    return sha256("\n".join((*key, str(now))).encode()).hexdigest()[:32]


def _as_of(alert: Alert, now: Instant) -> Alert:
    """Return the alert as a receiver sees it: while it fires, it has no end."""
    return alert if alert.ends_at is None or alert.resolved(now) else replace(alert, ends_at=None)
