"""Slack asks for rest, breaks off, answers nonsense or comes late: one message in the end, and never a hurry."""

import logging
from itertools import pairwise

import pytest

from monitor.model.instant import MINUTE, SECOND
from tests.notify.samples import ended, queue
from tests.notify.slack.channels import Line
from tests.slackstub.faults import Answer, Close, Fault, Late, SlackError, rate_limited, redirect
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import TOKEN

A = queue("a:1")
POST = "chat.postMessage"


def test_seven_seconds_are_seven_seconds_for_this_method_and_none_for_another(stub: SlackStub, line: Line) -> None:
    line.tell(queue("old:1"), group="old")
    line.pass_time(MINUTE)
    stub.fail_next(rate_limited("7"), method=POST)
    line.tell(A)
    line.tell(queue("old:1", 50.0), group="old")
    line.pass_time(MINUTE)
    _, first, second, *others = line.times(POST)
    assert (second - first >= 7, others) == (True, [])
    (edited,) = line.times("chat.update")
    assert edited - first < 7
    assert len(line.roots) == 2


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [(None, 0.5, 5), ("1.5", 1.5, 5), ("abc", 0.5, 5), ("86400", 300, 301)],
)
def test_whatever_the_wait_says_there_is_one_message_and_an_end_to_waiting(
    stub: SlackStub, line: Line, header: str | None, least: float, most: float
) -> None:
    stub.fail_next(rate_limited(header), method=POST)
    line.tell(A)
    line.pass_time(5 * MINUTE - SECOND)
    # What waits for five minutes is an alert of its own: VLLMMonitorNotificationsFailing.
    assert sum(line.outbox.waiting().values()) == (header == "86400")
    line.pass_time(5 * MINUTE)
    first, second = line.times(POST)
    assert least <= second - first <= most
    assert len(line.roots) == 1


def test_a_wait_of_a_day_is_not_believed_and_told(stub: SlackStub, line: Line) -> None:
    stub.fail_next(rate_limited("86400"), method=POST)
    line.tell(A)
    line.pass_time()
    assert "86400" in str(line.attempts[0].error)


def test_too_often_is_too_often_although_the_status_says_all_is_well(stub: SlackStub, line: Line) -> None:
    stub.fail_next(SlackError("ratelimited"), method=POST)
    line.tell(A)
    line.pass_time(MINUTE)
    first, second = line.times(POST)
    assert second - first >= 1
    # It was certainly not posted: nobody looks.
    assert line.calls == ["postMessage", "postMessage"]


def test_five_failures_before_the_deed_make_one_message_with_growing_gaps_in_order(stub: SlackStub, line: Line) -> None:
    stub.fail_next(*[Answer(503, "upstream")] * 5, method=POST)
    line.tell(A)
    line.pass_time(SECOND)
    line.tell(A, queue("b:1"))
    line.pass_time(5 * MINUTE)
    gaps = [later - earlier for earlier, later in pairwise(line.times(POST))][:5]
    assert len(gaps) == 5
    assert all(later > earlier for earlier, later in pairwise(gaps[1:]))
    assert len(line.roots) == 1
    assert line.replies == []
    assert "2x" in line.roots[0].text


@pytest.mark.parametrize(
    "fault",
    [
        Answer(200, "<html>sign in</html>"),
        Answer(200, ""),
        Answer(200, '{"ok": true, "channel": "C01'),
        Answer(200, '{"ok": true}'),
    ],
)
def test_nonsense_is_no_success_and_in_the_end_there_is_one_message(stub: SlackStub, line: Line, fault: Fault) -> None:
    stub.fail_next(fault, method=POST)
    line.tell(A)
    line.pass_time()
    assert not line.incident().stands
    line.pass_time(MINUTE)
    assert (len(line.roots), line.incident().ts) == (1, line.roots[0].ts)


def test_a_302_is_not_followed_so_another_host_never_sees_the_token(
    stub: SlackStub, line: Line, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with SlackStub() as other:
        stub.fail_next(redirect(f"{other.base_url}{POST}"), method=POST)
        line.tell(A)
        line.pass_time(MINUTE)
        assert other.requests == []
    assert len(line.roots) == 1
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("lag", [1.0, 3.0])
def test_a_history_that_lags_behind_is_looked_into_late_enough(stub: SlackStub, line: Line, lag: float) -> None:
    stub.workspace.lag = lag
    for alert in (A, ended(A, line.clock.at + MINUTE)):
        stub.fail_next(Close(applied=True), method=POST)
        line.tell(alert)
        line.pass_time(MINUTE)
    assert (len(line.roots), len(line.replies)) == (1, 1)


def test_a_post_that_slack_carries_out_later_is_found_by_the_look_before_the_next(stub: SlackStub, line: Line) -> None:
    stub.fail_next(Late(3.0), method=POST)
    line.tell(A)
    line.pass_time(MINUTE)
    assert line.calls.count("postMessage") == 1
    assert len(line.roots) == 1


def test_where_nobody_may_look_a_message_may_stand_twice_but_is_never_missing(stub: SlackStub, line: Line) -> None:
    stub.fail_next(Close(applied=False), method=POST)
    stub.fail_next(SlackError("missing_scope"), method="conversations.history")
    line.tell(A)
    line.pass_time(MINUTE)
    assert line.calls[:3] == ["postMessage", "history", "postMessage"]
    assert len(line.roots) == 1
