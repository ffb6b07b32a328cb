"""Slack refuses until somebody mends something: nobody is left without the news, and nobody gets it twice."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.model.labels import Labels
from monitor.notify.heartbeat import Rhythm, Verdict, judge
from monitor.notify.outbox import Outbox
from monitor.notify.secret import Secret
from monitor.notify.slack.payload import plain
from monitor.notify.slack.webhook import SlackWebhook
from monitor.notify.summary import summarise
from tests.notify.samples import NOW, ended, note, queue
from tests.notify.slack.bots import NAME, bot_of
from tests.notify.slack.channels import Line, headers
from tests.slackstub.faults import Answer, SlackError, rate_limited
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN, Channel

A = queue("a:1")
POST = "chat.postMessage"
PAGER = "pager/webhook[0]"


@dataclass
class Pager:
    """Takes whatever is brought to it, and knows when."""

    line: Line
    told: list[tuple[Instant, Notification]] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        self.told.append((self.line.clock.at, notification))


def with_pager(line: Line) -> Pager:
    """Give the bot of `line` a fallback."""
    pager = Pager(line)
    line.outbox = Outbox(
        {NAME: line.bot, PAGER: pager},
        line.attempts.append,
        chance=lambda: 1.0,
        fallbacks={NAME: [Integration(PAGER, send_resolved=True)]},
    )
    return pager


def is_healthy(line: Line) -> bool:
    """Say whether there would be a sign of life, with the five minutes that a receiver may fail."""
    well = [Rhythm(SECOND, line.clock.at)]
    return judge(well, well, line.outbox.failing_since(), 5 * MINUTE, line.clock.at) is Verdict.ALIVE


@pytest.mark.parametrize("forms", [1, 2])
def test_a_refused_form_is_simplified_and_told_once_and_not_for_every_alert(
    stub: SlackStub, line: Line, caplog: pytest.LogCaptureFixture, forms: int
) -> None:
    refused: list[str] = []
    object.__setattr__(line.workspace, "refused", refused.append)
    huge = Labels.of({**A.annotations.as_dict(), "description": "&" * 9_000, "remedy": "<" * 9_000})
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            stub.fail_next(*[SlackError("invalid_blocks")] * forms, method=POST)
            line.tell(replace(queue(f"{number}:1"), annotations=huge), group=f"{number}")
            line.pass_time(MINUTE)
    sent = [request.payload for request in stub.requests if request.name == POST]
    assert [bool(one["attachments"]) for one in sent[:2]] == [True, False]
    assert [bool(one["blocks"]) for one in sent[: forms + 1]] == [True, True, False][: forms + 1]
    assert len(sent[forms]["text"]) <= 3_000
    assert (len(line.roots), len(sent)) == (3, 3 * (forms + 1))
    assert refused == [NAME] * 3
    assert [record.message for record in caplog.records] == ["messages are simplified: Slack refused: invalid_blocks"]


def test_the_plainest_form_is_short_whatever_it_says() -> None:
    hostile = "&<>" * 4_000
    notes = [queue(f"{n}{hostile}", zone=hostile, alertname=f"{n}{hostile}") for n in range(60)]
    wordy = [replace(one, annotations=Labels.of(summary=hostile, description=hostile, value=hostile)) for one in notes]
    assert len(plain(summarise(note(*wordy)))) <= 3_000


def archive(stub: SlackStub) -> None:
    stub.workspace.channels[CHANNEL] = replace(stub.workspace.channels[CHANNEL], archived=True)


def throw_out(stub: SlackStub) -> None:
    stub.workspace.channels[CHANNEL] = replace(stub.workspace.channels[CHANNEL], member=False)


def remove(stub: SlackStub) -> None:
    del stub.workspace.channels[CHANNEL]


@pytest.mark.parametrize("ruin", [archive, throw_out, remove])
def test_a_dead_channel_is_told_elsewhere_and_tried_once_a_minute_and_caught_up_with(
    stub: SlackStub, line: Line, ruin: Callable[[SlackStub], None]
) -> None:
    pager = with_pager(line)
    ruin(stub)
    began = line.clock.at
    for number in range(8):
        line.tell(queue(f"{number}:1"), group=f"{number}")
        line.pass_time(45 * SECOND)
    assert [told.group_key for _, told in pager.told] == [f"{number}" for number in range(8)]
    assert all(at - told.now <= 120 * SECOND for at, told in pager.told)
    assert line.times(POST) == [60.0 * minute for minute in range(7)]
    assert not is_healthy(line)
    stub.workspace.channels[CHANNEL] = Channel(CHANNEL, "alerts")
    line.pass_time(MINUTE + 10 * SECOND)
    assert len(line.roots) == 8
    assert (is_healthy(line), sum(line.outbox.waiting().values())) == (True, 0)
    assert len(pager.told) == 8
    assert began == NOW


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked"])
def test_a_token_that_is_replaced_in_its_file_is_caught_up_with_in_order_and_nobody_hammers(
    stub: SlackStub, tmp_path: Path, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    caplog.set_level(logging.DEBUG)
    file, line = tmp_path / "token", Line(stub)
    old = TOKEN if code == "token_revoked" else "xoxb-never-was"
    file.write_text(old)
    if code == "token_revoked":
        stub.workspace.revoked.add(old)
    line.bot = bot_of(stub, Secret(file=file), workspace=line.workspace)
    line.outbox = Outbox({NAME: line.bot}, line.attempts.append, chance=lambda: 1.0)
    for number in range(6):
        line.tell(queue(f"{number}:1"), group=f"{number}")
        line.pass_time(30 * SECOND)
        assert sum(line.outbox.waiting().values()) == number + 1
    assert len(stub.requests) <= 4
    assert {str(attempt.error) for attempt in line.attempts} == {f"Slack refused: {code}"}
    stub.workspace.tokens["xoxb-the-new-one"] = stub.workspace.tokens[TOKEN]
    file.write_text("xoxb-the-new-one\n")
    line.pass_time(MINUTE + 10 * SECOND)
    assert [f"{number}:1" in header for number, header in enumerate(headers(line.roots))] == [True] * 6
    assert len(line.roots) == 6
    assert not any(secret in caplog.text for secret in (TOKEN, old, "xoxb-the-new-one"))


def test_half_an_hour_without_the_daemon_is_a_message_for_each_that_fires_and_one_for_the_rest(
    stub: SlackStub, line: Line
) -> None:
    for number in range(3):
        line.tell(queue(f"old-{number}:1"), group=f"old-{number}")
        line.pass_time(10 * SECOND)
    red = line.roots
    # What the state file knows when the daemon begins anew; in the half hour, 20 have come and gone.
    again = Line(stub, clock=line.clock)
    again.workspace.incidents.put(*line.workspace.incidents.all())
    again.clock.at += 30 * MINUTE
    for number in range(3):
        again.tell(ended(queue(f"old-{number}:1"), again.clock.at - MINUTE), group=f"old-{number}")
    for number in range(25):
        group, fires = f"new-{number}", queue(f"new-{number}:1")
        again.tell(fires if number < 5 else ended(fires, again.clock.at - MINUTE), group=group)
    again.pass_time(2 * MINUTE)
    now = {root.ts: root.text[0] for root in again.roots}
    assert [now[root.ts] for root in red] == ["✅"] * 3
    assert len(again.roots) == 3 + 1
    alone = [one for one in again.replies if "new-" in one.text and not one.text.startswith("*All")]
    assert len(alone) == 5


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        (Answer(200, "ok"), True),
        (Answer(200, "no_service"), False),
        (Answer(200, "<html>ok</html>"), False),
        (Answer(403, "invalid_token"), False),
        (Answer(410, "channel_is_archived"), False),
        (rate_limited("3"), False),
    ],
)
def test_of_a_webhook_the_word_ok_alone_counts(stub: SlackStub, answer: Answer, sent: object) -> None:
    webhook = SlackWebhook(Secret(stub.webhook_url))
    errors: list[NotifyError | None] = []
    outbox = Outbox({"w/slack[0]": webhook}, lambda attempt: errors.append(attempt.error), chance=lambda: 1.0)
    stub.fail_next(answer, method="webhook")
    outbox.put(Delivery("w/slack[0]", note(A)), NOW)
    outbox.deliver_due(NOW)
    assert (errors == [None], outbox.waiting()["w/slack[0]"]) == (sent, 0 if sent else 1)
    outbox.deliver_due(NOW + MINUTE)
    assert len(stub.messages) == (0 if sent else 1)


def test_a_letter_that_was_given_up_is_told_again_unless_there_was_news_of_its_group_since(
    stub: SlackStub, line: Line
) -> None:
    stub.fail_next(*[SlackError("invalid_blocks")] * 3, method=POST)
    refused = Delivery(NAME, line.tell(A))
    line.pass_time(MINUTE)
    assert (line.roots, [str(one.error) for one in line.attempts]) == ([], ["Slack refused: invalid_blocks"])
    line.outbox.put_again(refused, line.clock.at)
    line.pass_time(MINUTE)
    line.tell(ended(A, line.clock.at))
    line.pass_time(MINUTE)
    for _ in range(2):
        line.outbox.put_again(refused, line.clock.at)
        line.pass_time(MINUTE)
        (header,) = headers(line.roots)
        assert header.startswith("✅ RESOLVED")
        assert (len(line.replies), line.outbox.waiting()) == (1, {NAME: 0})
        # Forgotten, which only happens days after the last news.
        line.workspace.incidents.expire(line.clock.at)
    assert line.workspace.incidents.all() == []
