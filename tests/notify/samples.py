"""Notifications for the tests of receivers."""

from math import nan

from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Instant
from monitor.model.labels import EMPTY, Labels

# 2026-11-30 06:05:05 UTC
NOW: Instant = 1_796_018_705_000


def queue(instance: str = "10.0.0.1:8000", value: float = 42.0, **labels: str) -> Alert:
    """Return an alert on a long queue: pending for five minutes, firing for ten."""
    return Alert(
        labels=Labels.of(
            {
                "alertname": "VLLMQueueLong",
                "severity": "warning",
                "job": "vllm",
                "instance": instance,
                "model_name": "meta/llama-3-8b",
                **labels,
            }
        ),
        annotations=Labels.of(
            summary="vLLM's queue has been long for minutes",
            description=f"{value:.4g} requests wait on {instance}. Add a replica, or send less.",
            value=f"{value:.4g} requests waiting",
            threshold="10 requests",
            runbook_url="https://example.com/runbooks#vllmqueuelong",
        ),
        starts_at=NOW - 10 * MINUTE,
        active_at=NOW - 15 * MINUTE,
        value=value,
    )


def ended(alert: Alert, at: Instant = NOW - MINUTE) -> Alert:
    return Alert(
        alert.labels, alert.annotations, alert.starts_at, at, alert.active_at, alert.value, alert.generator_url
    )


def down(instance: str = "10.0.0.9:8000") -> Alert:
    """Return an alert without any of the optional annotations but the summary."""
    return Alert(
        labels=Labels.of(alertname="VLLMTargetDown", severity="critical", job="vllm", instance=instance),
        annotations=Labels.of(summary="vLLM does not answer"),
        starts_at=NOW - 2 * MINUTE,
        value=nan,
    )


def note(*alerts: Alert) -> Notification:
    return Notification("oncall", "group", EMPTY, alerts, NOW, Reason.FIRST)
