"""What a client reads back, and what the judge thinks of what stands there."""

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.slackstub.judge import assert_invariants, too_fast
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN, Posted


def client(stub: SlackStub) -> WebClient:
    return WebClient(token=TOKEN, base_url=stub.base_url, retry_handlers=[])


def stamp(identity: str) -> dict[str, object]:
    return {"event_type": "alert", "event_payload": {"id": identity}}


def test_history_shows_roots_the_newest_first_and_metadata_when_asked() -> None:
    with SlackStub() as stub:
        slack = client(stub)
        root = slack.chat_postMessage(channel=CHANNEL, text="root", metadata=stamp("1"))
        slack.chat_postMessage(channel=CHANNEL, text="reply", thread_ts=str(root["ts"]))
        slack.chat_postMessage(channel=CHANNEL, text="second")
        bare = slack.conversations_history(channel=CHANNEL)["messages"]
        full = slack.conversations_history(channel=CHANNEL, include_all_metadata=True, limit=15)["messages"]
        later = slack.conversations_history(channel=CHANNEL, oldest=str(root["ts"]))["messages"]
    assert [message["text"] for message in bare] == ["second", "root"]
    assert "metadata" not in bare[1]
    assert full[1]["metadata"] == stamp("1")
    assert [message["text"] for message in later] == ["second"]


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"event_payload": {}}, "invalid_metadata_format"),
        ({"event_type": "a", "event_payload": {"x": [1]}}, "invalid_metadata_schema"),
        ({"event_type": "a", "event_payload": {"x": "y" * 8_001}}, "metadata_too_large"),
    ],
)
def test_metadata_is_checked(metadata: dict[str, object], error: str) -> None:
    with SlackStub() as stub, pytest.raises(SlackApiError, match=error):
        client(stub).chat_postMessage(channel=CHANNEL, text="t", metadata=metadata)


def test_a_reply_needs_a_root() -> None:
    with SlackStub() as stub, pytest.raises(SlackApiError, match="thread_not_found"):
        client(stub).chat_postMessage(channel=CHANNEL, text="t", thread_ts="1.1")


def test_a_reaction_is_added_once() -> None:
    with SlackStub() as stub:
        slack = client(stub)
        ts = str(slack.chat_postMessage(channel=CHANNEL, text="t")["ts"])
        slack.reactions_add(channel=CHANNEL, timestamp=ts, name="eyes")
        with pytest.raises(SlackApiError, match="already_reacted"):
            slack.reactions_add(channel=CHANNEL, timestamp=ts, name="eyes")
        slack.reactions_remove(channel=CHANNEL, timestamp=ts, name="eyes")
        with pytest.raises(SlackApiError, match="no_reaction"):
            slack.reactions_remove(channel=CHANNEL, timestamp=ts, name="eyes")


def test_a_missing_scope_says_what_is_needed() -> None:
    with SlackStub() as stub:
        stub.workspace.tokens[TOKEN] = frozenset(("chat:write",))
        with pytest.raises(SlackApiError) as caught:
            client(stub).conversations_history(channel=CHANNEL)
        answer = client(stub).auth_test()
    assert caught.value.response["needed"] == "channels:history"
    assert answer.headers["X-OAuth-Scopes"] == "chat:write"


@pytest.mark.parametrize("text", ["<!channel>", "<@U123ABC456> look"])
def test_the_judge_does_not_overlook_a_mention(text: str) -> None:
    with SlackStub() as stub:
        client(stub).chat_postMessage(channel=CHANNEL, text=text)
        with pytest.raises(AssertionError):
            assert_invariants(stub)


def test_the_judge_does_not_overlook_a_message_that_stands_twice() -> None:
    with SlackStub() as stub:
        for identity in ("1", "2"):
            client(stub).chat_postMessage(channel=CHANNEL, text="t", metadata=stamp(identity))
        assert_invariants(stub)
        client(stub).chat_postMessage(channel=CHANNEL, text="t", metadata=stamp("2"))
        with pytest.raises(AssertionError):
            assert_invariants(stub)


@pytest.mark.parametrize(("gap", "channels"), [(1.0, []), (0.5, [CHANNEL])])
def test_the_judge_sees_who_posts_too_fast(gap: float, channels: list[str]) -> None:
    assert too_fast(Posted(CHANNEL, str(n), {}, "m", at=n * gap) for n in range(20)) == channels
