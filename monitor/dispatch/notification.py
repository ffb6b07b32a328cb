"""The one value that walks from the dispatcher to a receiver, and what a receiver is to the dispatcher."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels


class Reason(StrEnum):
    """Why a group of alerts is, or is not, sent to a receiver."""

    FIRST = "first notification"
    NEW_ALERTS = "new alerts in group"
    NEW_RESOLVED = "new resolved alerts in group"
    ALL_RESOLVED = "all alerts resolved"
    REPEAT = "repeat interval elapsed"
    ESCALATED = "nobody answered"
    ANSWERED = "somebody answered"
    REFRESH = "numbers have moved"
    NOTHING_NEW = "nothing new"

    @property
    def sends(self) -> bool:
        return self is not Reason.NOTHING_NEW


@dataclass(frozen=True, slots=True)
class Notification:
    """
    What one receiver is told of one aggregation group at one flush.

    `alerts` are sorted by job, instance and labels; those that resolved since the last notification are among them.
    `id` names this piece of news to this integration, and no other; it is the same after a restart.
    `fallback` is empty, or says which integration should have been told and cannot be. `left_out` alerts more are in
    the group, of which nobody has told us.
    """

    receiver: str
    group_key: str
    group_labels: Labels
    alerts: tuple[Alert, ...]
    now: Instant
    reason: Reason
    id: str = ""
    fallback: str = ""
    left_out: int = 0

    @property
    def firing(self) -> tuple[Alert, ...]:
        return tuple(alert for alert in self.alerts if not alert.resolved(self.now))

    @property
    def resolved(self) -> tuple[Alert, ...]:
        return tuple(alert for alert in self.alerts if alert.resolved(self.now))

    @property
    def is_resolved(self) -> bool:
        """Whether nothing of the group fires any more."""
        return not self.firing

    @property
    def common_labels(self) -> Labels:
        """The labels that all alerts share."""
        return _common([alert.labels for alert in self.alerts])

    @property
    def common_annotations(self) -> Labels:
        return _common([alert.annotations for alert in self.alerts])

    def shifted(self, by: Duration) -> "Notification":
        """Return the notification with all its dates moved."""
        return replace(self, now=self.now + by, alerts=tuple(alert.shifted(by) for alert in self.alerts))


def _common(sets: Sequence[Labels]) -> Labels:
    if not sets:
        return Labels()
    shared = set(sets[0]).intersection(*sets[1:])
    return Labels(pair for pair in sets[0] if pair in shared)


class NotifyError(Exception):
    """
    A notification was not delivered.

    `retryable`: another attempt may succeed; `retry_after`: the receiver asked for so many milliseconds of silence.
    `doubtful`: it may have been delivered all the same. `hopeless`: this notification never will be, others may.
    `reason` is a word from a closed set, fit for a metric label: it never holds a URL, a token or the receiver's text.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        retryable: bool,
        retry_after: int | None = None,
        doubtful: bool = False,
        hopeless: bool = False,
    ) -> None:
        super().__init__(message)
        self.doubtful = doubtful
        self.hopeless = hopeless
        self.reason = reason
        self.retryable = retryable
        self.retry_after = retry_after


class Notifier(Protocol):
    """One integration of a receiver. Tells only; whether to tell, and to try again, is decided elsewhere."""

    def notify(self, notification: Notification) -> None:
        """Deliver it; raises NotifyError, and nothing else."""
        ...
