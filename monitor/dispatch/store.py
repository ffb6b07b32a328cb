"""The newest word of every alert, whoever sent it: what inhibits others, and what the API shows."""

import threading
from dataclasses import dataclass, replace

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels


@dataclass(frozen=True, slots=True)
class Stored:
    """
    An alert and when it was last heard of.

    `timeout`: nobody said when it ends; `alert.ends_at` is when it counts as over if nobody says more.
    """

    alert: Alert
    updated_at: Instant
    timeout: bool = False


class AlertStore:
    """Holds the alerts that are not over. Safe to call from any thread; `version` changes whenever an alert does."""

    def __init__(self) -> None:
        self._stored: dict[Labels, Stored] = {}
        self._lock = threading.Lock()
        self.version = 0

    def put(self, alert: Alert, now: Instant, *, timeout: bool = False) -> Alert:
        """Take the newest word of an alert, and return it together with what was known."""
        with self._lock:
            new = Stored(alert, now, timeout)
            old = self._stored.get(alert.labels)
            if old is not None and _overlap(old.alert, alert):
                new = _merged(old, new, now)
            if new.alert.resolved(now):
                self._stored.pop(alert.labels, None)
            else:
                self._stored[alert.labels] = new
            self.version += old is None or old.alert.ends_at != new.alert.ends_at
            return new.alert

    def expire(self, now: Instant) -> None:
        """Forget the alerts whose time has run out."""
        with self._lock:
            for labels in [labels for labels, stored in self._stored.items() if stored.alert.resolved(now)]:
                del self._stored[labels]
                self.version += 1

    def firing(self, now: Instant) -> list[Stored]:
        """Return the alerts that are not over at `now`."""
        with self._lock:
            return [stored for stored in self._stored.values() if not stored.alert.resolved(now)]

    def get(self, labels: Labels) -> Stored | None:
        with self._lock:
            return self._stored.get(labels)

    def labels(self) -> set[Labels]:
        with self._lock:
            return set(self._stored)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        with self._lock:
            self._stored = {
                labels: replace(one, alert=one.alert.shifted(by), updated_at=one.updated_at + by)
                for labels, one in self._stored.items()
            }
            self.version += 1


def _overlap(old: Alert, new: Alert) -> bool:
    """Say whether both were active at some time; one without an end is active for ever."""
    return (old.ends_at is None or new.starts_at < old.ends_at) and (new.ends_at is None or new.ends_at > old.starts_at)


def _merged(old: Stored, new: Stored, now: Instant) -> Stored:
    """
    Return the newer word, with what the older one knows better.

    reference: Alertmanager, types.Alert.Merge: the earliest start; the later end, unless it was but a timeout.
    """
    alert, end, old_end = new.alert, new.alert.ends_at, old.alert.ends_at
    timeout = new.timeout
    if not alert.resolved(now) and not old.timeout and end is not None and (old_end is None or old_end > end):
        end, timeout = old_end, False
    starts_at = min(alert.starts_at, old.alert.starts_at)
    if (starts_at, end) == (alert.starts_at, alert.ends_at):
        return new
    return replace(new, alert=replace(alert, starts_at=starts_at, ends_at=end), timeout=timeout)
