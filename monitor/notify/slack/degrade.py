"""An alert is never lost because Slack does not like its form: what was refused is said again in plain words."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from monitor.dispatch.notification import NotifyError
from monitor.notify.failure import Reason
from monitor.notify.slack.payload import Message, message, plain
from monitor.notify.summary import Summary

T = TypeVar("T")


def post(summary: Summary, notes: Sequence[str], send: Callable[[Message], T]) -> T:
    """
    Send the message, and when Slack refuses its form, its text alone; return what `send` returned.

    `send` raises NotifyError, and so does this. A refused message was certainly not posted: nothing appears twice.
    """
    try:
        return send(message(summary, notes))
    except NotifyError as err:
        if err.reason != Reason.MESSAGE:
            raise
        return send(Message(plain(summary), [], []))
