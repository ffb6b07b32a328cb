"""The budgets of a workspace, on a clock that is an argument."""

from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.notify.slack.pace import POST, UPDATE, Pace


def calls(pace: Pace, method: str, channel: str, until: int) -> list[int]:
    """Return when a method is called by somebody who calls as soon as it is free."""
    at, times = 0, []
    while (at := max(at, pace.free_at(method, channel))) < until:
        pace.spend(method, channel, at)
        times.append(at)
    return times


def test_a_message_a_second_and_channel() -> None:
    pace = Pace()
    assert calls(pace, POST, "C1", 5 * SECOND) == [0, 1_000, 2_000, 3_000, 4_000]
    assert pace.free_at(POST, "C2") == 0


def test_edits_have_one_budget_for_all_channels_and_a_burst() -> None:
    pace = Pace()
    times = calls(pace, UPDATE, "C1", 10 * MINUTE)
    assert times.count(0) == 10
    assert max(sum(first <= at < first + MINUTE for at in times) for first in times) <= 50
    assert len([at for at in times if MINUTE <= at < 2 * MINUTE]) == 40
    assert pace.free_at(UPDATE, "C2") == pace.free_at(UPDATE, "C1") > 0


def test_who_rested_long_may_not_call_faster_for_it() -> None:
    pace = Pace()
    pace.spend(POST, "C1", 0)
    pace.spend(POST, "C1", HOUR)
    assert pace.free_at(POST, "C1") == HOUR + SECOND


def test_a_method_that_must_rest_rests_in_all_channels_and_no_other_does() -> None:
    pace = Pace()
    pace.hold(POST, 7 * SECOND)
    pace.hold(POST, 3 * SECOND)
    pace.hold("conversations.history", 2 * SECOND)
    assert [pace.free_at(method, "C1") for method in (POST, UPDATE, "conversations.history")] == [7_000, 0, 2_000]


def test_a_clock_that_is_set_back_holds_nobody_up() -> None:
    pace = Pace()
    pace.spend(POST, "C1", HOUR)
    pace.hold(UPDATE, HOUR + SECOND)
    pace.shift(-HOUR)
    assert (pace.free_at(POST, "C1"), pace.free_at(UPDATE)) == (SECOND, SECOND)
