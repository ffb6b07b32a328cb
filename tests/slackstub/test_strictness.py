"""What the stub takes the SDK's models take too, what comes too often is refused, and a fault does what it says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import Block

from tests.slackstub.answers import Refused
from tests.slackstub.blocks import problems
from tests.slackstub.faults import Answer, Close, Drip, Fault, Hang, Late, Reset, SlackError, Twice
from tests.slackstub.judge import assert_invariants
from tests.slackstub.rates import Rates
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, SCOPES, TOKEN
from tests.waiting import until


@pytest.fixture
def stub() -> Iterator[SlackStub]:
    with SlackStub() as running:
        running.workspace.tokens[TOKEN] = frozenset((*SCOPES, "files:write", "files:read"))
        yield running


def client(stub: SlackStub, timeout: int = 60) -> WebClient:
    return WebClient(token=TOKEN, base_url=stub.base_url, retry_handlers=[], timeout=timeout)


def plain(longest: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just("plain_text"), "text": st.text(min_size=0, max_size=longest)})


TEXT = st.one_of(
    plain(40), st.fixed_dictionaries({"type": st.just("mrkdwn"), "text": st.text(max_size=40)}), plain(160)
)
BUTTON = st.fixed_dictionaries(
    {"type": st.just("button"), "text": plain(90)},
    optional={
        "action_id": st.text(max_size=3),
        "value": st.text(max_size=5),
        "style": st.sampled_from(("primary", "danger", "big")),
        "url": st.sampled_from(("https://e.example/a", "ftp://e.example", "")),
    },
)
BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.just("header"), "text": TEXT}),
    st.fixed_dictionaries(
        {"type": st.just("section")},
        optional={"text": TEXT, "fields": st.lists(TEXT, max_size=12), "accessory": BUTTON, "x": st.just(1)},
    ),
    st.fixed_dictionaries({"type": st.just("context"), "elements": st.lists(TEXT, max_size=12)}),
    st.fixed_dictionaries({"type": st.just("actions"), "elements": st.lists(BUTTON, max_size=27)}),
    st.fixed_dictionaries(
        {"type": st.just("image")},
        optional={"alt_text": st.text(max_size=5), "image_url": st.just("https://e.example/a.png"), "title": TEXT},
    ),
    st.just({"type": "divider"}),
    st.just({"type": "unknown"}),
)


@given(blocks=st.lists(BLOCK, max_size=4))
def test_what_the_stub_takes_the_models_of_the_sdk_take(blocks: list[dict[str, Any]]) -> None:
    if not problems({"blocks": blocks}):
        assert [block.to_dict()["type"] for block in Block.parse_all(blocks)] == [block["type"] for block in blocks]


def test_posting_is_limited_by_channel_whichever_way_it_goes(stub: SlackStub) -> None:
    now = [100.0]
    stub.workspace.seconds = lambda: now[0]
    stub.workspace.rates.enforced = True
    for _ in range(2):
        client(stub).chat_postMessage(channel=CHANNEL, text="t")
        assert requests.post(stub.webhook_url, json={"text": "t"}, timeout=60).text == "ok"
    now[0] += 0.5
    with pytest.raises(SlackApiError, match="ratelimited") as caught:
        client(stub).chat_postMessage(channel="#alerts", text="t")
    assert (caught.value.response.status_code, caught.value.response.headers["Retry-After"]) == (429, "4")
    # The method rests, and no other one does.
    now[0] += 3.4
    with pytest.raises(SlackApiError, match="ratelimited"):
        client(stub).chat_postMessage(channel=CHANNEL, text="t")
    assert client(stub).conversations_history(channel=CHANNEL)["ok"]
    now[0] += 1.1
    client(stub).chat_postMessage(channel=CHANNEL, text="t")
    assert len(stub.messages) == 5


def test_methods_have_their_tiers_and_an_observer_only_notes() -> None:
    rates = Rates()
    assert [rates.spend("chat.update", "C1", 0.5) for _ in range(52)] == [0] * 52
    assert rates.violations == [("chat.update", 0.5)] * 2
    strict = Rates(enforced=True)
    waits = [strict.spend("reactions.remove", "C1", float(second)) for second in range(21)]
    assert waits == [0] * 20 + [40]
    assert [strict.spend("reactions.remove", "C1", at) for at in (59.9, 60.9)] == [1, 0]


def test_an_observer_of_posts_overlooks_what_was_held_up_on_its_way_and_nothing_more() -> None:
    held_up, hurried = Rates(), Rates()
    assert [held_up.spend("webhook", CHANNEL, at) for at in (5.0, 5.0, 6.0, 7.0, 8.0)] == [0] * 5
    assert held_up.violations == []
    assert [hurried.spend("webhook", CHANNEL, at) for at in (0.0, 0.4, 0.8, 1.2, 1.6)] == [0] * 5
    assert hurried.violations == [("webhook", 1.6)]


def test_what_was_called_too_often_has_not_been_looked_at(stub: SlackStub) -> None:
    """After the token and the scopes, and before the arguments."""
    stub.workspace.seconds = lambda: 100.0
    stub.workspace.rates = Rates(enforced=True, burst=0)
    client(stub).chat_postMessage(channel=CHANNEL, text="t")
    with pytest.raises(SlackApiError, match="ratelimited"):
        client(stub).chat_postMessage(channel=CHANNEL, text="t", blocks=[{"type": "unknown"}])
    stub.workspace.tokens[TOKEN] = frozenset()
    with pytest.raises(SlackApiError, match="missing_scope"):
        client(stub).chat_postMessage(channel=CHANNEL, text="t")


@pytest.mark.parametrize(
    ("fault", "stand"),
    [
        (Answer(503, applied=True), 1),
        (Answer(503), 0),
        (SlackError("fatal_error", applied=True), 1),
        (Close(applied=True), 1),
        (Reset(applied=False), 0),
        (Hang(applied=True), 1),
        (Twice(), 2),
        (Late(3.0), 0),
        (Drip(0.001), 1),
    ],
)
def test_a_fault_comes_before_the_deed_or_after_it(stub: SlackStub, fault: Fault, stand: int) -> None:
    stub.fail_next(fault)
    if isinstance(fault, Twice | Drip):
        client(stub).chat_postMessage(channel=CHANNEL, text="t")
    else:
        with pytest.raises((SlackApiError, OSError)):
            client(stub, timeout=1 if isinstance(fault, Hang) else 60).chat_postMessage(channel=CHANNEL, text="t")
    # Whoever has lost patience may have done so before it was posted.
    until(lambda: len(stub.messages) >= stand, within=5)
    assert len(stub.messages) == stand


def test_what_comes_late_comes_when_the_clock_says_so(stub: SlackStub) -> None:
    now = [0.0]
    stub.workspace.seconds = lambda: now[0]
    stub.fail_next(Late(3.0))
    with pytest.raises(OSError, match="closed"):
        client(stub).chat_postMessage(channel=CHANNEL, text="t")
    now[0] = 2.9
    assert client(stub).conversations_history(channel=CHANNEL)["messages"] == []
    now[0] = 3.0
    assert len(client(stub).conversations_history(channel=CHANNEL)["messages"]) == 1


def test_history_may_lag_behind(stub: SlackStub) -> None:
    now = [0.0]
    stub.workspace.seconds, stub.workspace.lag = lambda: now[0], 2.0
    client(stub).chat_postMessage(channel=CHANNEL, text="t")
    assert client(stub).conversations_history(channel=CHANNEL)["messages"] == []
    now[0] = 2.0
    assert len(client(stub).conversations_history(channel=CHANNEL)["messages"]) == 1


def test_a_file_can_be_shown_when_it_has_been_processed(stub: SlackStub) -> None:
    now = [0.0]
    stub.workspace.seconds, stub.workspace.processing = lambda: now[0], 10.0
    slack = client(stub)
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        slack.files_getUploadURLExternal(filename="a.png", length=0)
    given = slack.files_getUploadURLExternal(filename="a.png", length=3)
    assert requests.post(str(given["upload_url"]), data=b"abc", timeout=60).status_code == 200
    shown = [{"type": "image", "alt_text": "a", "slack_file": {"id": given["file_id"]}}]
    assert slack.files_info(file=str(given["file_id"]))["file"]["mimetype"] == ""
    with pytest.raises(SlackApiError, match="invalid_blocks"):
        slack.chat_postMessage(channel=CHANNEL, text="t", blocks=shown)
    now[0] = 10.0
    assert slack.files_info(file=str(given["file_id"]))["file"]["mimetype"] == "image/png"
    assert slack.chat_postMessage(channel=CHANNEL, text="t", blocks=shown)["ok"]


def test_a_reply_is_no_root_and_a_long_text_is_cut(stub: SlackStub) -> None:
    slack = client(stub)
    root = slack.chat_postMessage(channel=CHANNEL, text="x" * 40_001)
    assert (root["warning"], len(stub.messages[0].text)) == ("message_truncated", 40_000)
    reply = slack.chat_postMessage(channel=CHANNEL, text="t", thread_ts=str(root["ts"]))
    with pytest.raises(SlackApiError, match="thread_not_found"):
        slack.chat_postMessage(channel=CHANNEL, text="t", thread_ts=str(reply["ts"]))


@pytest.mark.parametrize(
    ("spoil", "logs"),
    [
        pytest.param({"text": "<!here>"}, "", id="a mention"),
        pytest.param({"text": "&am"}, "", id="half an entity"),
        pytest.param({"text": "<ftp://e.example|x>"}, "", id="a link"),
        pytest.param({"text": "", "blocks": []}, "", id="nothing"),
        pytest.param({"text": "t"}, f"token={TOKEN}", id="a secret in the log"),
    ],
)
def test_the_judge_overlooks_nothing(stub: SlackStub, spoil: dict[str, Any], logs: str) -> None:
    client(stub).chat_postMessage(channel=CHANNEL, text="t")
    assert_invariants(stub, logs="all is well")
    stub.workspace.messages[0] = replace(stub.workspace.messages[0], payload=spoil)
    with pytest.raises((AssertionError, Refused)):
        assert_invariants(stub, logs=logs)


def test_the_judge_sees_who_calls_too_often(stub: SlackStub) -> None:
    stub.workspace.rates.spend("chat.update", "", 0.0)
    assert_invariants(stub)
    for _ in range(50):
        stub.workspace.rates.spend("chat.update", "", 0.0)
    with pytest.raises(AssertionError):
        assert_invariants(stub)
