"""An alert is never lost because Slack does not like its form: what was refused is said again more simply."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from monitor.dispatch.notification import NotifyError
from monitor.notify.failure import Reason
from monitor.notify.slack.escape import units
from monitor.notify.slack.payload import Message, message, plain
from monitor.notify.summary import Summary

T = TypeVar("T")

_SECTION = 2_900


def ignore(_: NotifyError) -> None:
    """For who does not want to hear of it."""


def post(
    summary: Summary,
    notes: Sequence[str],
    send: Callable[[Message], T],
    refused: Callable[[NotifyError], None] = ignore,
) -> T:
    """
    Send the message; when Slack refuses its form, in one block of text, then as text alone.

    Returns what `send` returned. `send` raises NotifyError, and so does this. A refused message was certainly not
    posted: nothing appears twice.
    `refused` hears once why the whole message was not taken.
    """
    *richer, last = _forms(summary, notes)
    for number, built in enumerate(richer):
        try:
            return send(built)
        except NotifyError as err:
            if err.reason != Reason.MESSAGE:
                raise
            if number == 0:
                refused(err)
    return send(last)


def _forms(summary: Summary, notes: Sequence[str]) -> Iterator[Message]:
    yield message(summary, notes)
    text = plain(summary)
    if units(text) <= _SECTION:
        yield Message(text, [{"type": "section", "text": {"type": "mrkdwn", "text": text}}], [])
    yield Message(text, [], [])
