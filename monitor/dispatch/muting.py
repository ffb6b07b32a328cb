"""What keeps alerts from being told: inhibition, times and silences, in Alertmanager's order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from monitor.dispatch.dispatcher import Stage
from monitor.dispatch.fingerprint import fingerprint
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.notification import Notification
from monitor.dispatch.route import Route
from monitor.dispatch.silence import Silences
from monitor.dispatch.timeinterval import TimeInterval
from monitor.model.instant import Instant
from monitor.model.labels import Labels


@dataclass(frozen=True, slots=True)
class MuteStatus:
    """By what an alert is muted: fingerprints of alerts, and ids of silences."""

    inhibited_by: tuple[str, ...] = ()
    silenced_by: tuple[str, ...] = ()

    @property
    def is_suppressed(self) -> bool:
        return bool(self.inhibited_by or self.silenced_by)


@dataclass(frozen=True)
class Muting:
    """
    Everything that mutes. `intervals` are the time intervals by name, each a list of which one is enough.

    Decided at each flush, and anew whenever somebody asks: nothing is stored.
    """

    inhibitor: Inhibitor
    intervals: Mapping[str, Sequence[TimeInterval]]
    silences: Silences

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The steps between a group and its receiver."""
        return (self._uninhibited, self._within_times, self._unsilenced)

    def status(self, labels: Labels, now: Instant) -> MuteStatus:
        """Return by what an alert with `labels` is muted at `now`, whatever its route."""
        return MuteStatus(
            tuple(sorted(fingerprint(source) for source in self.inhibitor.inhibiting(labels, now))),
            tuple(self.silences.silencing(labels, now)),
        )

    def muted_by(self, route: Route, now: Instant) -> tuple[str, ...]:
        """Return the names of the time intervals because of which nothing of `route` is told at `now`."""
        active = route.active_time_intervals
        if active and not any(self._holds(name, now) for name in active):
            return active
        return tuple(name for name in route.mute_time_intervals if self._holds(name, now))

    def _uninhibited(self, notification: Notification, _route: Route) -> Notification:
        now = notification.now
        return _only(notification, lambda labels: not self.inhibitor.inhibiting(labels, now))

    def _within_times(self, notification: Notification, route: Route) -> Notification:
        return replace(notification, alerts=()) if self.muted_by(route, notification.now) else notification

    def _unsilenced(self, notification: Notification, _route: Route) -> Notification:
        now = notification.now
        return _only(notification, lambda labels: not self.silences.silencing(labels, now))

    def _holds(self, name: str, now: Instant) -> bool:
        return any(interval.contains(now) for interval in self.intervals[name])


def _only(notification: Notification, wanted: Callable[[Labels], bool]) -> Notification:
    left = tuple(alert for alert in notification.alerts if wanted(alert.labels))
    return notification if len(left) == len(notification.alerts) else replace(notification, alerts=left)
