"""The stub is as strict as Slack is known to be, and says so in Slack's words."""

from dataclasses import replace
from typing import Any

import pytest
import requests
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.slackstub.blocks import problems
from tests.slackstub.faults import SlackError
from tests.slackstub.markup import markup
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN


def text(size: int = 1, kind: str = "mrkdwn") -> dict[str, Any]:
    return {"type": kind, "text": "x" * size}


def section(size: int = 1, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": text(size), **more}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "text": text(1, "plain_text"), **more}


@pytest.mark.parametrize(
    ("blocks", "pointers"),
    [
        ([section(3_000)], []),
        ([section(3_001)], ["/blocks/0/text/text"]),
        ([section(0)], ["/blocks/0/text/text"]),
        ([{"type": "section"}], ["/blocks/0"]),
        ([section(), section(colour="red")], ["/blocks/1/colour"]),
        (
            [{"type": "section", "fields": [text(2_001)] + [text()] * 10}],
            ["/blocks/0/fields", "/blocks/0/fields/0/text"],
        ),
        ([{"type": "header", "text": text(151, "plain_text")}], ["/blocks/0/text/text"]),
        ([{"type": "header", "text": text()}], ["/blocks/0/text"]),
        ([{"type": "context", "elements": [text()] * 11}], ["/blocks/0/elements"]),
        ([{"type": "actions", "elements": []}], ["/blocks/0/elements"]),
        ([{"type": "actions", "elements": [button(style="red")]}], ["/blocks/0/elements/0/style"]),
        (
            [{"type": "actions", "elements": [button(action_id="a"), button(action_id="a")]}],
            ["/blocks/0/elements/1/action_id"],
        ),
        ([section(block_id="a"), section(block_id="a")], ["/blocks/1/block_id"]),
        ([{"type": "image", "image_url": "https://e.example/a.png"}], ["/blocks/0/alt_text"]),
        ([{"type": "image", "alt_text": "a"}], ["/blocks/0"]),
        ([{"type": "carousel2"}], ["/blocks/0/type"]),
        ([section(accessory=button(url="javascript:x"))], ["/blocks/0/accessory/url"]),
        ([{"type": "divider"}] * 51, ["/blocks"]),
    ],
)
def test_blocks_are_judged_with_a_pointer_to_the_fault(blocks: list[dict[str, Any]], pointers: list[str]) -> None:
    assert [problem.pointer for problem in problems({"blocks": blocks})] == pointers
    inside = [problem.pointer for problem in problems({"attachments": [{"blocks": blocks}]})]
    assert inside == [f"/attachments/0{pointer}" for pointer in pointers]


def test_an_invalid_block_is_answered_as_slack_does() -> None:
    with SlackStub() as stub, pytest.raises(SlackApiError) as caught:
        client(stub).chat_postMessage(channel=CHANNEL, text="t", blocks=[section(3_001)])
    message = "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    data = caught.value.response.data
    assert isinstance(data, dict)
    assert data == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": [message],
        "response_metadata": {"messages": [f"[ERROR] {message}"]},
    }


@pytest.mark.parametrize(
    ("token", "arguments", "error"),
    [
        (None, {}, "not_authed"),
        ("xoxb-other", {}, "invalid_auth"),
        (TOKEN, {"text": "t"}, "invalid_arguments"),
        (TOKEN, {"channel": "C0000000000", "text": "t"}, "channel_not_found"),
        (TOKEN, {"channel": CHANNEL}, "no_text"),
        (TOKEN, {"channel": CHANNEL, "text": "t", "blocks": [section(2_500)] * 4}, "msg_blocks_too_long"),
    ],
)
def test_checks_come_in_slacks_order(token: str | None, arguments: dict[str, Any], error: str) -> None:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with SlackStub() as stub:
        answer = requests.post(f"{stub.base_url}chat.postMessage", json=arguments, headers=headers, timeout=60).json()
        assert (answer["ok"], answer["error"]) == (False, error)
        assert stub.messages == []


def test_a_bot_posts_by_name_but_edits_by_id() -> None:
    with SlackStub() as stub:
        posted = client(stub).chat_postMessage(channel="#alerts", text="first", blocks=[section()])
        with pytest.raises(SlackApiError, match="channel_not_found"):
            client(stub).chat_update(channel="alerts", ts=str(posted["ts"]), text="second")
        client(stub).chat_update(channel=str(posted["channel"]), ts=str(posted["ts"]), text="second")
        (message,) = stub.messages
        assert (message.text, message.edits) == ("second", 1)
        assert "blocks" not in message.payload
        with pytest.raises(SlackApiError, match="message_not_found"):
            client(stub).chat_update(channel=CHANNEL, ts="1.1", text="third")
        with pytest.raises(SlackApiError, match="msg_too_long"):
            client(stub).chat_update(channel=CHANNEL, ts=str(posted["ts"]), text="x" * 4_001)


def test_time_stamps_rise_in_the_order_of_arrival() -> None:
    with SlackStub() as stub:
        for number in range(3):
            client(stub).chat_postMessage(channel=CHANNEL, text=str(number))
        stamps = [message.ts for message in stub.messages]
        assert stamps == sorted(set(stamps))
        assert [message.text for message in stub.messages] == ["0", "1", "2"]


def test_a_form_is_read_like_json() -> None:
    with SlackStub() as stub:
        form = {"token": TOKEN, "channel": CHANNEL, "text": "t", "blocks": '[{"type": "divider"}]'}
        answer = requests.post(f"{stub.base_url}chat.postMessage", data=form, timeout=60).json()
        assert answer["warning"] == "missing_charset"
        assert stub.messages[0].payload["blocks"] == [{"type": "divider"}]


def test_a_fault_is_for_its_method_and_only_once() -> None:
    with SlackStub() as stub:
        stub.fail_next(SlackError("fatal_error", applied=True), method="chat.postMessage")
        assert client(stub).auth_test()["ok"]
        with pytest.raises(SlackApiError, match="fatal_error"):
            client(stub).chat_postMessage(channel=CHANNEL, text="t")
        assert len(stub.messages) == 1
        client(stub).chat_postMessage(channel=CHANNEL, text="t")


def test_the_webhook_answers_in_plain_words() -> None:
    with SlackStub() as stub:
        good = requests.post(stub.webhook_url, json={"text": "t"}, timeout=60)
        empty = requests.post(stub.webhook_url, json={}, timeout=60)
        unknown = requests.post(stub.webhook_url + "x", json={"text": "t"}, timeout=60)
        stub.workspace.channels[CHANNEL] = replace(stub.workspace.channels[CHANNEL], archived=True)
        archived = requests.post(stub.webhook_url, json={"text": "t"}, timeout=60)
    answers = [(answer.status_code, answer.text) for answer in (good, empty, unknown, archived)]
    assert answers == [(200, "ok"), (400, "invalid_payload"), (404, "no_service"), (410, "channel_is_archived")]


def test_mentions_and_links_are_what_is_not_escaped() -> None:
    found = markup(
        {"text": "<!channel> &lt;!here&gt; <@U1|x> <#C1> <https://e.example/a|b> <!date^1^{time}|x> <!subteam^S1>"}
    )
    assert found.mentions == ("!channel", "@U1|x", "#C1", "!subteam^S1")
    assert found.links == ("https://e.example/a",)


def client(stub: SlackStub) -> WebClient:
    return WebClient(token=TOKEN, base_url=stub.base_url, retry_handlers=[])
