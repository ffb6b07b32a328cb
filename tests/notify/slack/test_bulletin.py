"""A report in Slack: once, whole or cut between paragraphs, and with a picture only where there can be one."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from monitor.clock import VirtualClock
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import Duration
from monitor.notify.secret import Secret
from monitor.notify.slack.bulletin import BotBoard, Bulletin, Paragraph, WebhookBoard, message_of, picture_of
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.pace import LOOK_AFTER, Pace
from monitor.notify.slack.upload import Upload
from monitor.notify.slack.web_api import WebApi
from monitor.notify.slack.webhook import SlackWebhook
from tests.slackstub.faults import Close, SlackError
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, SCOPES, TOKEN

ROW = ("KV cache", "peak 97% (Tue 03 Nov 14:00) & <!channel> *bold*")
BULLETIN = Bulletin("report-1-2", "vLLM: a week", (Paragraph("llama_ (job vllm)", (ROW,)),), "the command has all")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PICTURE = picture_of(PNG, "a week")


@dataclass
class Waiting:
    """Time that passes when somebody waits."""

    clock: VirtualClock = field(default_factory=lambda: VirtualClock(1_700_000_000_000))
    waited: list[Duration] = field(default_factory=list)

    def pause(self, duration: Duration) -> bool:
        self.waited.append(duration)
        self.clock.advance(duration)
        return True


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        stub.workspace.tokens[TOKEN] = frozenset((*SCOPES, "files:write"))
        yield stub


def board(slack: SlackStub, waiting: Waiting) -> BotBoard:
    api, pace, now = WebApi(Secret(TOKEN), slack.base_url), Pace(), waiting.clock.now
    return BotBoard(Channel(api, CHANNEL, pace, now), Upload(api), pace.free_at, now, waiting.pause)


def test_a_bot_posts_the_text_and_shares_the_picture_in_its_thread(slack: SlackStub) -> None:
    board(slack, Waiting()).put_up(BULLETIN, PICTURE)
    (message,) = slack.messages
    assert message.text == "vLLM: a week"
    (file,) = slack.workspace.files.values()
    assert (file.thread_ts, file.content) == (message.ts, PNG)
    assert_invariants(slack, in_real_time=False)


def test_without_the_scope_there_is_the_text_alone(slack: SlackStub) -> None:
    slack.workspace.tokens[TOKEN] = frozenset(SCOPES)
    board(slack, Waiting()).put_up(BULLETIN, PICTURE)
    assert (len(slack.messages), slack.workspace.files) == (1, {})


def test_a_webhook_posts_the_text(slack: SlackStub) -> None:
    WebhookBoard(SlackWebhook(Secret(slack.webhook_url)), Waiting().pause).put_up(BULLETIN, PICTURE)
    assert [message.text for message in slack.messages] == ["vLLM: a week"]


def test_what_stands_after_a_broken_connection_is_not_posted_again(slack: SlackStub) -> None:
    waiting = Waiting()
    slack.fail_next(Close(applied=True), method="chat.postMessage")
    board(slack, waiting).put_up(BULLETIN, None)
    assert len(slack.messages) == 1
    # It is looked for, and that takes a moment to make sense.
    assert max(waiting.waited) >= LOOK_AFTER


def test_what_slack_will_not_take_is_an_error_at_once(slack: SlackStub) -> None:
    waiting = Waiting()
    slack.fail_next(SlackError("channel_not_found"), method="chat.postMessage")
    with pytest.raises(NotifyError):
        board(slack, waiting).put_up(BULLETIN, None)
    assert slack.messages == []


def test_of_too_many_models_the_last_are_left_out_and_the_message_says_so(slack: SlackStub) -> None:
    paragraphs = tuple(Paragraph(f"model {number}", (ROW,) * 18) for number in range(40))
    board(slack, Waiting()).put_up(Bulletin("report-1-2", "vLLM: a week", paragraphs, "the command has all"), None)
    last = message_of(Bulletin("report-1-2", "vLLM: a week", paragraphs, "the command has all")).blocks[-1]
    assert "more: the command has all" in str(last)
    assert_invariants(slack, in_real_time=False)
