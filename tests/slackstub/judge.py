"""What must be true of a workspace at the end of every test, whatever went wrong on the way."""

from collections import Counter
from collections.abc import Iterable

from tests.slackstub.markup import entities_are_whole, markup
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import Posted

# Slack takes one message a second and channel, and a short burst.
_WINDOW = 5.0
_BURST = 3


def assert_invariants(stub: SlackStub, *, allowed_mentions: Iterable[str] = ()) -> None:
    """
    Fail when a message stands twice, mentions somebody it must not, is cut in an entity, or came too fast.

    Two messages are the same when their metadata carries the same `id`.
    """
    messages = stub.messages
    identities = Counter(identity for message in messages if (identity := _identity(message)))
    assert [identity for identity, count in identities.items() if count > 1] == []
    mentions = {mention for message in messages for mention in markup(message.payload).mentions}
    assert mentions <= set(allowed_mentions)
    assert all(entities_are_whole(message.payload) for message in messages)
    assert too_fast(messages) == []


def too_fast(messages: Iterable[Posted]) -> list[str]:
    """Return the channels that got more than a message a second, burst aside, in some five seconds."""
    arrivals: dict[str, list[float]] = {}
    for message in messages:
        arrivals.setdefault(message.channel, []).append(message.at)
    most = int(_WINDOW) + _BURST
    return [
        channel
        for channel, times in arrivals.items()
        if any(later - earlier < _WINDOW for earlier, later in zip(times, times[most:], strict=False))
    ]


def _identity(message: Posted) -> str:
    metadata = message.payload.get("metadata") or {}
    return str(metadata.get("event_payload", {}).get("id", ""))
