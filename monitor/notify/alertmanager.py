"""
Alerts as Prometheus sends them to an Alertmanager: which, when, with which end, and how they are written.

reference: Prometheus 3.5, rules/alerting.go (needsSending, sendAlerts), rules/manager.go (SendAlerts), notifier.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.notify.moment import rfc3339

# What fires is sent again after so long, so that an Alertmanager that was away, or lost it, hears of it.
RESEND_DELAY: Duration = MINUTE
# Three sendings may get lost before an Alertmanager takes the alert for over.
_LIVES = 4
# Whatever was not sent for so long is sent as if it never had been.
_FORGOTTEN: Duration = HOUR


class Sendings:
    """When each alert was last sent. Not safe for threads."""

    def __init__(self, resend_delay: Duration = RESEND_DELAY) -> None:
        self._delay = resend_delay
        self._sent: dict[Labels, Instant] = {}

    def due(self, alerts: Iterable[Alert], at: Instant, interval: Duration) -> list[Alert]:
        """
        Return what must be sent of the alerts that an evaluation at `at` came to, each with its end.

        One that fires ends, unless more is heard, after four times the longer of `interval` and the resend delay.
        """
        ends_at = at + _LIVES * max(interval, self._delay)
        due = [alert for alert in alerts if self._is_due(alert, at)]
        self._sent.update((alert.labels, at) for alert in due)
        return [alert if alert.ends_at is not None else replace(alert, ends_at=ends_at) for alert in due]

    def forget(self, before: Instant) -> None:
        """Forget what was sent an hour before this instant, or earlier."""
        self._sent = {labels: at for labels, at in self._sent.items() if at > before - _FORGOTTEN}

    def begin_anew(self) -> None:
        """There is somebody who has heard of nothing yet."""
        self._sent.clear()

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._sent = {labels: at + by for labels, at in self._sent.items()}

    def _is_due(self, alert: Alert, at: Instant) -> bool:
        last = self._sent.get(alert.labels, 0)
        return (alert.ends_at is not None and alert.ends_at > last) or last + self._delay < at


def body(alerts: Iterable[Alert], external_url: str) -> bytes:
    """Return what is posted to /api/v2/alerts; links without a host begin with `external_url`."""
    return json.dumps([_posted(alert, external_url) for alert in alerts], ensure_ascii=False).encode("utf-8", "replace")


def _posted(alert: Alert, external_url: str) -> dict[str, Any]:
    link = alert.generator_url
    return {
        "labels": alert.labels.as_dict(),
        "annotations": alert.annotations.as_dict(),
        "startsAt": rfc3339(alert.starts_at),
        **({} if alert.ends_at is None else {"endsAt": rfc3339(alert.ends_at)}),
        "generatorURL": external_url.rstrip("/") + link if link.startswith("/") else link,
    }
