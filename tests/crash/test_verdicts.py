"""The judge of the crash harness notices what it is there to notice."""

from collections.abc import Iterable, Sequence

import pytest

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, Reason
from monitor.dispatch.route import Route
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, Duration, Instant
from monitor.model.labels import EMPTY, Labels
from tests.crash import verdicts
from tests.crash.history import Evaluation, History

A, B = (Labels.of(alertname="Down", k=k) for k in "ab")
ROUTE = Route("oncall", ("alertname",), group_wait=0, group_interval=100)
KEY = '{}:{alertname="Down"}'


def said(
    now: Instant, firing: Iterable[Labels] = (), over: Iterable[Labels] = (), reason: Reason = Reason.NEW_ALERTS
) -> Delivery:
    """Return a message: everything that fires does so since 10, everything that is over is since 50."""
    alerts = [Alert(one, EMPTY, 10) for one in firing] + [Alert(one, EMPTY, 10, 50) for one in over]
    return Delivery("slack", Notification("oncall", KEY, EMPTY, tuple(alerts), now, reason, id=str(now)))


FIRST, BOTH, LESS, OVER = said(10, [A]), said(20, [A, B]), said(60, [A], [B]), said(70, [], [A])


def history(letters: Sequence[Delivery], *, waits: Iterable[str] = (), fired: Iterable[Labels] = (A, B)) -> History:
    settled = {letter.notification.id for letter in letters} - set(waits)
    return History(letters=list(letters), settled=settled, fired={(labels, 10) for labels in fired})


def repeat_interval(_: str) -> Duration:
    return HOUR


def test_a_good_story_has_no_complaints() -> None:
    story = [FIRST, BOTH, LESS, OVER]
    written = history(story)
    assert list(verdicts.stands_twice(story)) == []
    assert list(verdicts.lost(written, story)) == []
    assert list(verdicts.out_of_order(story)) == []
    assert list(verdicts.resolved_without_having_fired(written, story)) == []
    assert list(verdicts.silently_dropped(story, ())) == []
    assert list(verdicts.said_again(story, repeat_interval)) == []


def test_a_message_that_stands_twice_is_noticed() -> None:
    (words,) = verdicts.stands_twice([FIRST, OVER, FIRST])
    assert words.startswith("posted 2 times: slack")


@pytest.mark.parametrize(
    ("written", "posts", "words"),
    [
        pytest.param(history([FIRST]), [], "never posted", id="lost"),
        pytest.param(history([FIRST], waits=["10"]), [FIRST], "still waits", id="waits"),
        pytest.param(history([]), [FIRST], "never kept", id="posted before it was kept"),
    ],
)
def test_what_was_kept_and_what_was_posted_must_agree(written: History, posts: list[Delivery], words: str) -> None:
    (complaint,) = verdicts.lost(written, posts)
    assert words in complaint


def test_a_word_in_whose_place_a_newer_one_was_posted_is_not_lost() -> None:
    assert list(verdicts.lost(history([FIRST, BOTH]), [BOTH])) == []


def test_messages_of_a_group_in_the_wrong_order_are_noticed() -> None:
    (words,) = verdicts.out_of_order([FIRST, LESS, BOTH])
    assert "came behind" in words


def test_an_end_without_a_beginning_is_noticed() -> None:
    (words,) = verdicts.resolved_without_having_fired(history([FIRST, LESS], fired=[A]), [FIRST, LESS])
    assert words.startswith("never fired")
    (words,) = verdicts.resolved_without_having_fired(history([FIRST, BOTH, LESS]), [FIRST, LESS])
    assert words.startswith("resolved before it was told")


def test_an_alert_that_came_and_went_between_two_flushes_may_be_told_as_over() -> None:
    assert list(verdicts.resolved_without_having_fired(history([FIRST, LESS]), [FIRST, LESS])) == []


def test_an_alert_that_is_never_heard_of_again_is_noticed() -> None:
    (words,) = verdicts.silently_dropped([BOTH, said(60, [A]), OVER], ())
    assert words.startswith("not heard of again")
    (words,) = verdicts.silently_dropped([FIRST], ())
    assert words.startswith("still stands as firing")
    assert list(verdicts.silently_dropped([FIRST], [A])) == []


def test_a_message_that_says_nothing_new_is_noticed() -> None:
    (words,) = verdicts.said_again([FIRST, said(20, [A])], repeat_interval)
    assert words.startswith("nothing new")
    assert list(verdicts.said_again([FIRST, said(20, [A], reason=Reason.REPEAT)], repeat_interval)) != []
    assert list(verdicts.said_again([FIRST, said(20 + HOUR, [A], reason=Reason.REPEAT)], repeat_interval)) == []


@pytest.mark.parametrize(
    ("attempts", "posts", "words"),
    [
        pytest.param([("10", 5)], 1, "", id="once"),
        pytest.param([("10", 5), ("10", 105)], 2, "", id="a death between"),
        pytest.param([("10", 5), ("10", 6)], 1, "tried 2 times in life 1", id="in one life"),
        pytest.param([("10", 5)], 2, "posted 2 times in 1 attempts", id="too often"),
    ],
)
def test_a_second_attempt_needs_a_death(attempts: list[tuple[str, Instant]], posts: int, words: str) -> None:
    complaints = list(verdicts.tried_without_need(History(attempts=attempts), [FIRST] * posts, [0, 100]))
    assert [complaint.startswith(words) for complaint in complaints] == [True] * bool(words)


def test_an_alert_that_should_have_been_told_is_noticed() -> None:
    untold = History(evaluations=[Evaluation(10, 10, frozenset([A]), 0)])
    (words,) = verdicts.untold(untold, [0], ROUTE, ["slack"])
    assert words.startswith("slack was not told by 10")
    told = History(evaluations=[Evaluation(10, 10, frozenset([A]), 1)], letters=[FIRST])
    assert list(verdicts.untold(told, [0], ROUTE, ["slack"])) == []


@pytest.mark.parametrize(("second", "complaints"), [(100, 0), (200, 1)])
def test_an_alert_has_a_group_interval_to_be_told_within_a_life(second: Instant, complaints: int) -> None:
    """The group was flushed at 10, for A; B began at 20."""
    firing = frozenset([A, B])
    story = [
        Evaluation(10, 10, frozenset([A]), 1),
        Evaluation(20, 20, firing, 1),
        Evaluation(second, second, firing, 1),
    ]
    assert len(list(verdicts.untold(History(story, [FIRST]), [0], ROUTE, ["slack"]))) == complaints
