"""The notification log: who was last told what, and when."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from monitor.dispatch.notification import Reason
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels

LogKey = tuple[str, str]  # (group key, integration)


@dataclass(frozen=True, slots=True)
class Entry:
    """The alerts that a receiver was last told of, by their label sets."""

    at: Instant
    firing: frozenset[Labels]
    resolved: frozenset[Labels]


@dataclass
class NotificationLog:
    """Holds the last entry of each group and integration."""

    entries: dict[LogKey, Entry] = field(default_factory=dict)

    def get(self, key: LogKey) -> Entry | None:
        return self.entries.get(key)

    def record(self, key: LogKey, entry: Entry) -> None:
        self.entries[key] = entry

    def is_told_firing(self, group_key: str, integration: str, labels: Labels) -> bool:
        """Say whether the last that this integration heard of the alert is that it fires."""
        entry = self.entries.get((group_key, integration))
        return entry is not None and labels in entry.firing

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: the entries move along."""
        self.entries = {key: replace(entry, at=entry.at + by) for key, entry in self.entries.items()}

    def expire(self, before: Instant) -> None:
        """Drop the entries older than `before`."""
        for key, entry in list(self.entries.items()):
            if entry.at < before:
                del self.entries[key]


def decide(
    entry: Entry | None,
    firing: Iterable[Labels],
    resolved: Iterable[Labels],
    *,
    now: Instant,
    repeat_interval: Duration,
    send_resolved: bool,
) -> Reason:
    """
    Say whether a receiver must hear of a group in this state, and why.

    reference: Alertmanager, notify/dedup_stage.go (needsUpdate).
    """
    firing, resolved = set(firing), set(resolved)
    if entry is None:
        return Reason.FIRST if firing else Reason.NOTHING_NEW
    if firing - entry.firing:
        return Reason.NEW_ALERTS
    if not firing:
        # Recorded even when the receiver does not want to hear of it, or the next firing would not be news.
        return Reason.ALL_RESOLVED if entry.firing else Reason.NOTHING_NEW
    if send_resolved and resolved - entry.resolved:
        return Reason.NEW_RESOLVED
    return Reason.REPEAT if entry.at < now - repeat_interval else Reason.NOTHING_NEW
