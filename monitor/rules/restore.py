"""What becomes of an alert while the daemon is down."""

from dataclasses import replace

from monitor.model.instant import HOUR, MINUTE, Duration, Instant
from monitor.rules.alerting import ActiveAlert, AlertState

# reference: Prometheus 3, rules/group.go (RestoreForState), with its defaults.
OUTAGE_TOLERANCE: Duration = HOUR
GRACE_PERIOD: Duration = 10 * MINUTE


def restored(alert: ActiveAlert, hold: Duration, down_at: Instant, now: Instant) -> ActiveAlert | None:
    """
    Return the alert as it goes on after a restart; None: it starts again. `hold` is the rule's `for`.

    The time that the daemon was down does not count towards `for`, as in Prometheus, which restores only rules whose
    `for` is at least its grace period. Here all are; and what fires or has resolved simply goes on.
    """
    if alert.state is not AlertState.PENDING:
        return alert
    if now - down_at > OUTAGE_TOLERANCE:
        return None
    remaining = hold - (down_at - alert.active_at)
    if remaining <= 0:
        return alert
    if remaining < GRACE_PERIOD <= hold:
        return replace(alert, active_at=now + GRACE_PERIOD - hold)
    return replace(alert, active_at=alert.active_at + now - down_at)
