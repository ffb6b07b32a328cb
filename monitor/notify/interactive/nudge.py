"""
How a lane is told that an incident owes its channel something although nothing new was heard of its alerts.

It walks like a notification, beside those of its group: it must never take the place of one that waits.
"""

from dataclasses import replace

from monitor.dispatch.notification import Notification, Reason

_SUFFIX = "\nanswered"


def nudge(told: Notification) -> Notification:
    """Return what makes the bot do what the incident of `told` owes. It has no alerts: nobody else can be told it."""
    return replace(
        told, group_key=told.group_key + _SUFFIX, alerts=(), reason=Reason.ANSWERED, id=f"{told.id}/answered"
    )


def nudged(notification: Notification) -> str | None:
    """Return the key of the group that a nudge is about, or None when the notification is none."""
    if notification.reason is not Reason.ANSWERED:
        return None
    return notification.group_key.removesuffix(_SUFFIX)
