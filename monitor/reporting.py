"""What the daemon counts and logs of its deliveries, and the gauges that are computed when somebody reads them."""

import logging
from collections import Counter

from monitor.dispatch.notification import Reason
from monitor.dispatch.silence import Silences, SilenceState
from monitor.metrics import Metrics
from monitor.notify.letter import Attempt
from monitor.pipeline import Pipeline
from monitor.rules.alerting import AlertState

log = logging.getLogger(__name__)


def report(metrics: Metrics, attempt: Attempt) -> None:
    """Count and log what became of one attempt to deliver."""
    delivery = attempt.delivery
    told = {
        "integration": delivery.integration,
        "group": delivery.notification.group_key,
        "reason": delivery.notification.reason.value,
    }
    metrics.notifications.labels(delivery.integration).inc()
    if attempt.error is None:
        is_news = delivery.notification.reason is not Reason.REFRESH
        log.log(logging.INFO if is_news else logging.DEBUG, "notified", extra=told)
        return
    metrics.notifications_failed.labels(delivery.integration, attempt.error.reason).inc()
    if attempt.error.hopeless:
        metrics.notifications_dropped.labels(delivery.integration).inc()
    # Once in the life of a daemon, not at every attempt: the counter has the rest.
    level = logging.ERROR if attempt.is_first else logging.DEBUG
    log.log(level, "not notified: %s", attempt.error, extra=told | {"attempts": attempt.attempts})


def refresh(metrics: Metrics, pipeline: Pipeline, silences: Silences, *, state_written: bool) -> None:
    """Bring the gauges that are computed up to date. Safe to call from any thread."""
    states = [
        alert.state
        for group in pipeline.manager.groups
        for rule in group.alerting
        for alert in list(rule.active.values())
    ]
    for state in (AlertState.PENDING, AlertState.FIRING):
        metrics.alerts.labels(state.value).set(states.count(state))
    now = pipeline.clock.now()
    silenced = Counter(silence.state(now) for silence in silences.all(now))
    for silence_state in SilenceState:
        metrics.silences.labels(silence_state.value).set(silenced[silence_state])
    metrics.state_written.set(state_written)
    metrics.show_targets(pipeline.pool.members.counts)
    metrics.show_waiting(pipeline.outbox.waiting())
