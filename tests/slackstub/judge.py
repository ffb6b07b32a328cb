"""What must be true of a workspace at the end of every test, whatever went wrong on the way."""

import re
from collections import Counter
from collections.abc import Iterable

from tests.slackstub.markup import entities_are_whole, markup
from tests.slackstub.methods import check_content
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import APP_TOKEN, Posted

# Slack takes one message a second and channel, and a short burst.
_WINDOW = 5.0
_BURST = 3
_SECRETS = (APP_TOKEN, "notARealSecret", "ticket-")


def assert_invariants(
    stub: SlackStub,
    *,
    allowed_mentions: Iterable[str] = (),
    allowed_links: str = "https?://.*",
    logs: str = "",
    in_real_time: bool = True,
) -> None:
    """
    Fail when something stands there that must not, or came in a way that Slack does not want.

    That is: a message twice (two have one `id` in their metadata), a mention or a link that is not allowed, an entity
    that is cut, a message or a file's text that Slack would not take, messages that came too fast, a method that was
    called too often, or a secret in `logs`.
    Whose clock is not that of the stub cannot know what is too fast: not `in_real_time`.
    """
    messages = stub.messages
    identities = Counter(identity for message in messages if (identity := _identity(message)))
    assert [identity for identity, count in identities.items() if count > 1] == []
    for message in messages:
        check_content(message.payload)
        found = markup(message.payload)
        assert set(found.mentions) <= set(allowed_mentions)
        assert [link for link in found.links if not re.fullmatch(allowed_links, link)] == []
        assert entities_are_whole(message.payload)
    files = [{"text": f"{file.title}\n{file.alt}"} for file in stub.workspace.files.values()]
    assert [mention for file in files for mention in markup(file).mentions] == []
    if in_real_time:
        assert too_fast(messages) == []
        assert stub.workspace.rates.violations == []
    assert [secret for secret in (*_SECRETS, *stub.workspace.tokens) if secret in logs] == []


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
