"""
The body that an Alertmanager posts to a webhook, version 4, read into a value.

reference: Alertmanager 0.25 and 0.33, notify/webhook and template.Data.
"""

from collections.abc import Mapping
from typing import Any

from monitor.dispatch.received import Message
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.web.json_fields import instant_of, pairs_of, parsed, table, text_of, unreadable

VERSION = "4"
_NAME = "webhook"
_STATES = ("firing", "resolved")
_LONGEST_KEY = 8_192
# What Alertmanager has there: 64 bits.
_MOST_TRUNCATED = 2**64 - 1


def message(data: bytes, now: Instant, source: str = "") -> Message:
    """
    Return what was posted; an end that lies ahead of our clock is now. Raises BodyError, which says why not.

    Of alerts with the same labels, which no group of Alertmanager has, the last one counts.
    """
    fields = table(parsed(data, _NAME), _NAME)
    version = fields.get("version")
    if version != VERSION:
        raise unreadable(_NAME, f"its version is {repr(version)[:20]} and not {VERSION!r}")
    key = text_of(fields, "groupKey", _NAME)
    if not key or len(key) > _LONGEST_KEY:
        raise unreadable(_NAME, f"groupKey is not a text of 1 to {_LONGEST_KEY} characters")
    items = fields.get("alerts")
    if not isinstance(items, list) or not items:
        raise unreadable(_NAME, "alerts is not a list of alerts")
    truncated = fields.get("truncatedAlerts", 0)
    if type(truncated) is not int or not 0 <= truncated <= _MOST_TRUNCATED:
        raise unreadable(_NAME, "truncatedAlerts is not a number")
    read = [_alert(table(item, _NAME), now) for item in items]
    return Message(
        group_key=key,
        group_labels=Labels.of(pairs_of(fields, "groupLabels", _NAME)),
        alerts=tuple({alert.labels: alert for alert in read}.values()),
        receiver=text_of(fields, "receiver", _NAME),
        truncated=truncated,
        external_url=text_of(fields, "externalURL", _NAME),
        source=source,
    )


def _alert(fields: Mapping[str, Any], now: Instant) -> Alert:
    labels = Labels.of(pairs_of(fields, "labels", _NAME))
    if not labels:
        raise unreadable(_NAME, "an alert has no labels")
    state = fields.get("status")
    if state not in _STATES:
        raise unreadable(_NAME, f"the status of an alert is none of {', '.join(_STATES)}")
    ends_at = instant_of(fields, "endsAt", _NAME)
    return Alert(
        labels=labels,
        annotations=Labels(pairs_of(fields, "annotations", _NAME)),
        starts_at=instant_of(fields, "startsAt", _NAME) or now,
        # Of one that fires the end is but when it would count as over without another word.
        ends_at=None if state == "firing" else min(ends_at or now, now),
        generator_url=text_of(fields, "generatorURL", _NAME),
    )
