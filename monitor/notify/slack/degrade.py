"""An alert is never lost because Slack does not like its form: what was refused is said again in plain words."""

from collections.abc import Callable

from monitor.dispatch.notification import NotifyError
from monitor.notify.slack.classify import Reason
from monitor.notify.slack.payload import Message, message, plain
from monitor.notify.summary import Summary


def post(summary: Summary, send: Callable[[Message], None]) -> None:
    """
    Send the message, and when Slack refuses its form, its text alone.

    `send` raises NotifyError, and so does this. A refused message was certainly not posted: nothing appears twice.
    """
    try:
        send(message(summary))
    except NotifyError as err:
        if err.reason != Reason.MESSAGE:
            raise
        send(Message(plain(summary), [], []))
