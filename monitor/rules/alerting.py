"""
The life of an alert.

reference: Prometheus 3, rules/alerting.go. Pure: labels, value and time in, the alert's next state out.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import nan

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import EMPTY, Labels

# A resolved alert is told again and again for so long, against lost messages.
RESOLVED_RETENTION: Duration = 15 * MINUTE


class AlertState(StrEnum):
    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """
    One alert of one rule. INACTIVE means resolved: one that never fired is not kept at all.

    `labels` is its identity: the sample's labels under the rule's, with `alertname`.
    """

    labels: Labels
    state: AlertState
    active_at: Instant
    value: float = nan
    annotations: Labels = EMPTY
    fired_at: Instant | None = None
    resolved_at: Instant | None = None
    keep_firing_since: Instant | None = None

    def shifted(self, by: Duration) -> "ActiveAlert":
        """Return the alert with all its dates moved."""
        fired, resolved, since = self.fired_at, self.resolved_at, self.keep_firing_since
        return replace(
            self,
            active_at=self.active_at + by,
            fired_at=None if fired is None else fired + by,
            resolved_at=None if resolved is None else resolved + by,
            keep_firing_since=None if since is None else since + by,
        )

    @property
    def dates(self) -> tuple[object, ...]:
        """What must outlive the process: all but the value and the texts, which the next evaluation refreshes."""
        return (self.state, self.active_at, self.fired_at, self.resolved_at, self.keep_firing_since)


@dataclass(frozen=True, slots=True)
class Found:
    """What one element of the rule's result says: which alert, with which value."""

    labels: Labels
    value: float = nan
    annotations: Labels = EMPTY


def seen(old: ActiveAlert | None, found: Found, hold: Duration, now: Instant) -> ActiveAlert:
    """Return the alert after an evaluation that found it; `hold` is the rule's `for`, in milliseconds."""
    if old is None or old.state is AlertState.INACTIVE:
        old = ActiveAlert(found.labels, AlertState.PENDING, active_at=now)
    # Value and annotations follow the sample, also while the alert fires.
    alert = replace(old, value=found.value, annotations=found.annotations, keep_firing_since=None)
    if alert.state is AlertState.PENDING and now - alert.active_at >= hold:
        alert = replace(alert, state=AlertState.FIRING, fired_at=now)
    return alert


def absent(old: ActiveAlert, keep_firing: Duration, now: Instant) -> ActiveAlert | None:
    """Return the alert after an evaluation that did not find it; None: it is forgotten."""
    if old.state is AlertState.PENDING:
        return None
    if old.resolved_at is not None:
        return old if now - old.resolved_at <= RESOLVED_RETENTION else None
    since = now if old.keep_firing_since is None else old.keep_firing_since
    if keep_firing > 0 and now - since < keep_firing:
        return replace(old, keep_firing_since=since)
    return replace(old, state=AlertState.INACTIVE, resolved_at=now, keep_firing_since=None)
