"""
A receiver that takes Alertmanager's webhooks: whatever understands those understands ours.

reference: Alertmanager 0.33, notify/webhook and template.Data.
"""

import json
from dataclasses import replace
from typing import Any

from monitor.dispatch.fingerprint import fingerprint
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.notify.http import Address, HttpOptions
from monitor.notify.moment import rfc3339
from monitor.notify.secret import Secret

VERSION = "4"
# Go's time before all others: the end of what has none.
_NEVER = "0001-01-01T00:00:00Z"
# Where Alertmanager has other words for it.
_REASONS = {Reason.NEW_ALERTS: "new alerts added", Reason.NEW_RESOLVED: "some alerts resolved"}


class Webhook:
    """
    Posts to one URL; the URL is a secret.

    `external_url` is where the daemon is reached; of more than `max_alerts` alerts only the first are told (0: all).
    """

    def __init__(
        self, url: Secret, *, external_url: str = "", max_alerts: int = 0, options: HttpOptions | None = None
    ) -> None:
        self._address = Address(url, options)
        self._external_url = external_url
        self._max_alerts = max_alerts

    def notify(self, notification: Notification) -> None:
        """Post the notification; raises NotifyError."""
        body = payload(notification, self._external_url, self._max_alerts)
        headers = {"Content-Type": "application/json"}
        if notification.id:
            # Not Alertmanager's: what came twice after a doubtful answer can be told by it.
            headers["Idempotency-Key"] = notification.id
        self._address.post(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), headers)


def payload(notification: Notification, external_url: str = "", max_alerts: int = 0) -> dict[str, Any]:
    """Return the body, version 4; what all alerts have in common is said of those that are told."""
    left_out = max(len(notification.alerts) - max_alerts, 0) if max_alerts else 0
    told = replace(notification, alerts=notification.alerts[:max_alerts]) if left_out else notification
    body = {
        "receiver": told.receiver,
        "status": "resolved" if told.is_resolved else "firing",
        "alerts": [_alert(alert, told.now) for alert in told.alerts],
        "notification_reason": _REASONS.get(told.reason, told.reason.value),
        "groupLabels": told.group_labels.as_dict(),
        "commonLabels": told.common_labels.as_dict(),
        "commonAnnotations": told.common_annotations.as_dict(),
        "externalURL": external_url,
        "version": VERSION,
        "groupKey": told.group_key,
        "truncatedAlerts": left_out + told.left_out,
    }
    # A key of our own, and only where it tells that another receiver should have been told.
    return body | ({"fallback": told.fallback} if told.fallback else {})


def _alert(alert: Alert, now: Instant) -> dict[str, Any]:
    ends_at = alert.ends_at if alert.resolved(now) else None
    return {
        "status": "firing" if ends_at is None else "resolved",
        "labels": alert.labels.as_dict(),
        "annotations": alert.annotations.as_dict(),
        "startsAt": rfc3339(alert.starts_at),
        "endsAt": _NEVER if ends_at is None else rfc3339(ends_at),
        "generatorURL": alert.generator_url,
        "fingerprint": fingerprint(alert.labels),
    }
