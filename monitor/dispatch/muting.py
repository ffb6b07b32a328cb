"""What keeps alerts from being told: inhibition, times and silences, in Alertmanager's order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from monitor.dispatch.dispatcher import Stage
from monitor.dispatch.fingerprint import fingerprint
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.notification import Notification
from monitor.dispatch.route import Route
from monitor.dispatch.silence import Silences
from monitor.dispatch.timeinterval import TimeInterval
from monitor.model.instant import Instant
from monitor.model.labels import Labels


class Suppression(StrEnum):
    """
    Why an alert of a flush was not told.

    reference: Alertmanager, notify/mute.go: the reasons of alertmanager_notifications_suppressed_total.
    """

    SILENCE = "silence"
    INHIBITION = "inhibition"
    MUTE_TIME_INTERVAL = "mute_time_interval"
    ACTIVE_TIME_INTERVAL = "active_time_interval"


def unheard(_why: Suppression, _alerts: int) -> None:
    """For those who do not count."""


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

    Decided at each flush, and anew whenever somebody asks: nothing is stored. `suppressed` hears at each flush of how
    many alerts were not told, and why.
    """

    inhibitor: Inhibitor
    intervals: Mapping[str, Sequence[TimeInterval]]
    silences: Silences
    suppressed: Callable[[Suppression, int], None] = unheard

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
        if self._is_inactive(route, now):
            return route.active_time_intervals
        return tuple(name for name in route.mute_time_intervals if self._holds(name, now))

    def _is_inactive(self, route: Route, now: Instant) -> bool:
        active = route.active_time_intervals
        return bool(active) and not any(self._holds(name, now) for name in active)

    def _uninhibited(self, notification: Notification, _route: Route) -> Notification:
        now = notification.now
        return self._only(
            notification, lambda labels: not self.inhibitor.inhibiting(labels, now), Suppression.INHIBITION
        )

    def _within_times(self, notification: Notification, route: Route) -> Notification:
        now = notification.now
        if not self.muted_by(route, now):
            return notification
        inactive = self._is_inactive(route, now)
        why = Suppression.ACTIVE_TIME_INTERVAL if inactive else Suppression.MUTE_TIME_INTERVAL
        return self._only(notification, lambda _: False, why)

    def _unsilenced(self, notification: Notification, _route: Route) -> Notification:
        now = notification.now
        return self._only(notification, lambda labels: not self.silences.silencing(labels, now), Suppression.SILENCE)

    def _only(self, notification: Notification, wanted: Callable[[Labels], bool], why: Suppression) -> Notification:
        """Return the notification with the alerts that are wanted; the others are not told because of `why`."""
        left = tuple(alert for alert in notification.alerts if wanted(alert.labels))
        muted = len(notification.alerts) - len(left)
        if not muted:
            return notification
        self.suppressed(why, muted)
        return replace(notification, alerts=left)

    def _holds(self, name: str, now: Instant) -> bool:
        return any(interval.contains(now) for interval in self.intervals[name])
