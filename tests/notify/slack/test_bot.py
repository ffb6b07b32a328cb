"""One message an incident, over real sockets to a stub of Slack, whatever goes wrong between two steps."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from monitor.dispatch.notification import Reason
from monitor.model.instant import MINUTE, SECOND
from monitor.notify.interactive.nudge import nudge
from monitor.notify.slack.incident import Incident, Key, PostRoot, UpdateRoot, owing
from monitor.notify.slack.incidents import Incidents
from tests.notify.samples import NOW, down, ended, queue
from tests.notify.slack.bots import patience_with
from tests.notify.slack.channels import Line, headers
from tests.slackstub.faults import DOUBTFUL, Close, Fault, Late, SlackError
from tests.slackstub.stub import SlackStub
from tests.waiting import until

A, B = queue("a:1"), queue("b:1")


def test_an_incident_from_its_first_word_to_its_last_is_one_message(line: Line) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    line.tell(A, B)
    line.pass_time(MINUTE)
    line.tell(*(ended(alert, line.clock.at) for alert in (A, B)))
    line.pass_time(MINUTE)
    (root,) = line.roots
    assert root.text.startswith("✅ RESOLVED: 2x vLLM's queue")
    assert root.payload["attachments"][0]["color"] == "#2eb67d"
    assert root.edits == 2
    assert [reply.text.partition("*")[2].partition("*")[0] for reply in line.replies] == ["New", "Resolved"]
    assert {reply.thread_ts for reply in line.replies} == {root.ts}


def test_numbers_that_move_are_edited_once_a_minute_and_news_do_not_wait_for_them(line: Line) -> None:
    line.tell(queue("a:1", 1.0))
    line.pass_time()
    for value in range(30):
        line.tell(queue("a:1", float(value)), reason=Reason.REFRESH)
        line.pass_time(10 * SECOND)
    assert line.calls.count("update") == 5
    assert line.replies == []
    assert sum(line.outbox.waiting().values()) == 0
    line.tell(queue("a:1", 99.0), B)
    assert sum(line.outbox.waiting().values()) == 1
    line.tell(queue("a:1", 98.0), B, reason=Reason.REFRESH)
    line.pass_time(5 * SECOND)
    assert "98 requests waiting" in line.roots[0].text
    assert "*New*" in line.replies[0].text


def test_what_is_new_and_critical_is_shown_in_the_channel(line: Line) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    line.tell(A, queue("c:1", severity="critical"))
    line.pass_time(MINUTE)
    (reply,) = line.replies
    assert reply.payload["reply_broadcast"] is True


@pytest.mark.parametrize("fault", DOUBTFUL.values(), ids=DOUBTFUL)
def test_a_message_that_may_stand_is_looked_for_and_edited_from_then_on(stub: SlackStub, fault: Fault) -> None:
    line = Line(stub, timeout=patience_with(fault))
    stub.fail_next(fault, method="chat.postMessage")
    line.tell(A)
    line.pass_time()
    until(lambda: line.roots or isinstance(fault, Late), within=5)
    line.pass_time(MINUTE)
    assert line.calls == ["postMessage", "history", "update"]
    (looked,) = [request for request in stub.requests if request.name == "conversations.history"]
    assert looked.payload["include_all_metadata"] == "1"
    (edited,) = [request for request in stub.requests if request.name == "chat.update"]
    assert edited.payload["ts"] == line.roots[0].ts
    line.tell(ended(A, line.clock.at))
    line.pass_time(MINUTE)
    (header,) = headers(line.roots)
    assert header.startswith("✅ RESOLVED: vLLM's queue has been long")


@pytest.mark.parametrize("fault", DOUBTFUL.values(), ids=DOUBTFUL)
def test_a_reply_that_may_stand_is_looked_for_in_its_thread(stub: SlackStub, fault: Fault) -> None:
    line = Line(stub, timeout=patience_with(fault))
    line.tell(A)
    line.pass_time(MINUTE)
    stub.fail_next(fault, method="chat.postMessage")
    line.tell(ended(A, line.clock.at))
    line.pass_time()
    until(lambda: line.replies or isinstance(fault, Late), within=5)
    line.pass_time(MINUTE)
    assert line.calls == ["postMessage", "update", "postMessage", "replies"]
    assert len(line.replies) == 1


def test_where_threads_cannot_be_read_a_reply_may_stand_twice_but_is_never_lost(stub: SlackStub) -> None:
    line = Line(stub)
    line.tell(A)
    line.pass_time(MINUTE)
    stub.fail_next(Close(applied=False), method="chat.postMessage")
    stub.fail_next(SlackError("missing_scope"), method="conversations.replies")
    line.tell(ended(A, line.clock.at))
    line.pass_time(MINUTE)
    assert line.calls[-2:] == ["replies", "postMessage"]
    assert len(line.replies) == 1


@pytest.mark.parametrize("code", ["cant_update_message", "edit_window_closed", "is_inactive"])
def test_a_message_that_may_not_be_edited_is_followed_by_one_that_links_to_it(
    stub: SlackStub, line: Line, code: str
) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    stub.fail_next(SlackError(code), method="chat.update")
    line.tell(A, B)
    line.pass_time(MINUTE)
    old, new = line.roots
    assert f"https://stub.slack.com/archives/{old.channel}/p{old.ts.replace('.', '')}|earlier message" in str(
        new.payload
    )
    # The new message says all that is new.
    assert line.replies == []
    line.tell(*(ended(alert, line.clock.at) for alert in (A, B)))
    line.pass_time(MINUTE)
    assert [message.text[0] for message in line.roots] == ["🟠", "✅"]
    assert [reply.thread_ts for reply in line.replies] == [new.ts]


def test_a_message_that_somebody_deleted_is_posted_anew(stub: SlackStub, line: Line) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    stub.workspace.messages.clear()
    line.tell(ended(A, line.clock.at))
    line.pass_time(MINUTE)
    assert line.calls == ["postMessage", "update", "postMessage"]
    (header,) = headers(line.roots)
    assert header.startswith("✅ RESOLVED: vLLM's queue has been long")


def test_more_than_a_message_a_second_is_not_posted_and_the_worst_comes_first(line: Line) -> None:
    for number in range(8):
        line.tell(queue(f"{number}:1", severity="critical" if number >= 6 else "warning"), group=str(number))
    line.pass_time(4 * SECOND)
    assert [message.text[0] for message in line.roots] == ["🔴", "🔴", "🟠", "🟠", "🟠"]
    line.pass_time(10 * SECOND)
    assert len(line.roots) == 8


def test_a_message_that_slack_does_not_like_is_edited_in_plain_words(stub: SlackStub, line: Line) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    stub.fail_next(SlackError("invalid_blocks"), SlackError("msg_blocks_too_long"), method="chat.update")
    line.tell(ended(A, line.clock.at))
    line.pass_time(MINUTE)
    (root,) = line.roots
    assert not root.payload["blocks"]
    assert root.text.startswith("✅ RESOLVED")


def test_what_was_begun_in_an_earlier_life_is_not_done_again(stub: SlackStub, line: Line) -> None:
    """Killed between the answer and its being noted: the next life finds the incident as it was before."""
    note = line.tell(A)
    line.pass_time(MINUTE)
    posted = line.incident()
    again = Line(stub, clock=line.clock)
    again.workspace.incidents.put(replace(posted, ts="", channel="", doubtful=True, owed=(PostRoot(),)))
    again.bot.notify(note)
    assert len(again.roots) == 1
    assert (again.incident().ts, again.incident().owed) == (posted.ts, ())


def test_nothing_is_said_twice_of_the_same_news(line: Line) -> None:
    note = line.tell(A)
    line.pass_time(MINUTE)
    line.bot.notify(note)
    assert line.calls == ["postMessage"]


def test_whoever_changes_an_incident_while_it_is_drawn_is_drawn_too(line: Line) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    key = line.incident().key

    class Watching:
        """Somebody acknowledges in the middle of an edit."""

        def __init__(self) -> None:
            self.calls = 0

        def __call__(self) -> int:
            self.calls += 1
            if self.calls == 1:
                line.workspace.incidents.change(
                    key, lambda one: replace(one or line.incident(), acked_by="somebody", acked_at=NOW)
                )
            return line.clock.at

    line.workspace.incidents.put(owing(line.incident(), [UpdateRoot()]))
    object.__setattr__(line.workspace, "now", Watching())
    line.bot.notify(nudge(line.incident().told))
    assert "acknowledged by somebody" in str(line.roots[0].payload)


def test_a_number_that_is_none_makes_no_edit_without_end(line: Line) -> None:
    """From Python 3.13 on, two incidents whose peak is NaN are never equal."""

    class Unequal(Incidents):
        unequal = 5

        def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident:
            after = super().change(key, how)
            self.unequal -= 1
            return replace(after, peak_value=float("nan")) if self.unequal >= 0 else after

    line.tell(down())
    line.pass_time(MINUTE)
    unequal = Unequal([owing(line.incident(), [UpdateRoot()])])
    again = Line(line.stub, clock=line.clock, incidents=unequal)
    again.bot.notify(nudge(again.incident().told))
    assert line.calls == ["postMessage", "update"]


def test_what_is_owed_of_an_end_is_said_although_it_fires_again_much_later(stub: SlackStub, line: Line) -> None:
    line.tell(A)
    line.pass_time(MINUTE)
    stub.fail_next(*[SlackError("token_revoked")] * 35, method="chat.update")
    line.tell(ended(A, line.clock.at))
    line.pass_time(31 * MINUTE)
    line.tell(replace(A, starts_at=line.clock.at))
    line.pass_time(30 * MINUTE)
    (root,) = line.roots
    assert root.text.startswith("🟠")
    assert "fired 2 times" in str(root.payload)
