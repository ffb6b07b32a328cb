"""What counts as found, in time, and as a false alarm."""

import pytest

from monitor.model.instant import MINUTE, SECOND
from monitor.model.labels import Labels
from tests.incidents.firing import Firing, merged
from tests.incidents.story import Column, Story, Tell, probed, soon
from tests.incidents.verdict import judge, judge_foreign

PAGE = Story(
    "hang",
    Tell.PAGE,
    (),
    20 * MINUTE,
    cause=5 * MINUTE,
    over=10 * MINUTE,
    expects=(soon("Stuck", within=150 * SECOND),),
    may=frozenset({"Slow"}),
)
TICKET = Story("input", Tell.TICKET, (), 20 * MINUTE, cause=5 * MINUTE, expects=(soon("Bad", within=10 * MINUTE),))
QUIET = Story("day", Tell.NOTHING, (), 20 * MINUTE)


def fired(alert: str, at: int, severity: str = "critical") -> Firing:
    return Firing(at * SECOND, at * SECOND + MINUTE, alert, severity)


@pytest.mark.parametrize(
    ("story", "firings", "good"),
    [
        pytest.param(PAGE, [fired("Stuck", 400)], True, id="in time"),
        pytest.param(PAGE, [fired("Stuck", 460)], False, id="too late"),
        pytest.param(PAGE, [fired("Stuck", 290)], False, id="before the cause"),
        pytest.param(PAGE, [fired("Stuck", 400, "warning")], False, id="found but nobody wakes"),
        pytest.param(PAGE, [], False, id="missed"),
        pytest.param(PAGE, [fired("Stuck", 400), fired("Slow", 420)], True, id="a consequence"),
        pytest.param(PAGE, [fired("Stuck", 400), fired("Slow", 100)], False, id="a consequence before its cause"),
        pytest.param(PAGE, [fired("Stuck", 400), fired("Other", 420, "warning")], False, id="something else"),
        pytest.param(PAGE, [fired("Stuck", 400), fired("Other", 420, "info")], True, id="a note bothers nobody"),
        pytest.param(TICKET, [fired("Bad", 400, "warning")], True, id="a ticket"),
        pytest.param(TICKET, [fired("Bad", 400)], False, id="a page for a ticket"),
        pytest.param(QUIET, [], True, id="a quiet day"),
        pytest.param(QUIET, [fired("Bad", 400, "warning")], False, id="a day that is not"),
        pytest.param(QUIET, [fired("Restarted", 400, "info")], True, id="a day with a note"),
    ],
)
def test_a_story_comes_out_as_it_must_or_not(story: Story, firings: list[Firing], good: bool) -> None:  # noqa: FBT001
    assert judge(story, Column.RULES, [firings]).is_good is good


def test_of_several_phases_the_worst_counts() -> None:
    (found,) = judge(PAGE, Column.RULES, [[fired("Stuck", 400)], [fired("Stuck", 430)], [fired("Stuck", 390)]]).found
    assert found.after == 130 * SECOND
    (missed,) = judge(PAGE, Column.RULES, [[fired("Stuck", 400)], []]).found
    assert missed.after is None


def test_what_only_a_probe_sees_is_not_asked_of_the_rules_alone() -> None:
    story = Story("cold", Tell.PAGE, (), 20 * MINUTE, expects=(probed("NotReady"),))
    assert not judge(story, Column.DAEMON, [[]]).is_good
    assert judge(story, Column.RULES, [[]]).is_good


@pytest.mark.parametrize(
    ("story", "firings", "after", "false_alarms"),
    [
        pytest.param(PAGE, [fired("Any", 400)], 100, 0, id="a page under another name"),
        pytest.param(PAGE, [fired("Any", 400, "warning")], 100, 0, id="a ticket where a page was due"),
        pytest.param(PAGE, [fired("Any", 100), fired("Any", 400)], 100, 1, id="one of them too early"),
        pytest.param(TICKET, [fired("Any", 400)], 100, 1, id="a page where a ticket was due"),
        pytest.param(QUIET, [fired("Any", 400, "warning")], None, 1, id="noise"),
        pytest.param(QUIET, [fired("Any", 400, "info")], None, 0, id="a note"),
    ],
)
def test_a_foreign_rule_set_is_judged_by_when_it_speaks(
    story: Story, firings: list[Firing], after: int | None, false_alarms: int
) -> None:
    foreign = judge_foreign(story, firings)
    assert foreign.after == (None if after is None else after * SECOND)
    assert len(foreign.false_alarms) == false_alarms


def test_evaluations_a_minute_apart_are_one_firing_and_a_longer_gap_is_two() -> None:
    labels = Labels.of(alertname="Stuck", severity="critical", instance="a")
    minutes = [3, 4, 5, 9]
    (first, second) = merged([(labels, [minute * MINUTE for minute in minutes])], 5 * SECOND)
    assert (first.begin, first.end) == (3 * MINUTE, 5 * MINUTE)
    assert (second.begin, second.end) == (9 * MINUTE, 9 * MINUTE)
