"""Incidents and clicks for the tests of buttons."""

from dataclasses import replace
from typing import Any

from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.labels import Labels
from monitor.notify.interactive.click import Button, Click
from monitor.notify.slack.incident import Incident
from tests.notify.samples import NOW, ended, queue

INTEGRATION = "oncall/slack[0]"
ALICE, BOB = "U0ALICE001", "U0BOB00001"


def incident(*alerts: Alert, **more: Any) -> Incident:
    """Return an open incident that was told at NOW and stands in Slack."""
    told = Notification(
        "oncall", "{}:{}", Labels.of(alertname="VLLMQueueLong"), alerts or (queue(),), NOW, Reason.FIRST, "abc123"
    )
    opened = Incident(
        INTEGRATION, told.group_key, told.id, NOW, told, channel="C0123456789", ts="1.000001", alarmed_at=NOW
    )
    return replace(opened, **more)


def resolved(**more: Any) -> Incident:
    return incident(ended(queue()), resolved_at=NOW, **more)


def click(button: Button = Button.ACK, user: str = ALICE, action_ts: str = "1796018700.000100") -> Click:
    return Click(button, "abc123", user, user.lower(), "C0123456789", "1.000001", action_ts)
