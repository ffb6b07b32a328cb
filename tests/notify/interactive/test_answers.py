"""What was clicked is shown by the bot, whatever Slack answers, and beside what the alerts have to say."""

from dataclasses import replace

import pytest

from monitor.dispatch.dispatcher import Delivery
from monitor.model.instant import MINUTE
from monitor.notify.interactive.click import Button
from monitor.notify.interactive.decide import decide
from monitor.notify.interactive.escalation import Escalation, ringing
from monitor.notify.interactive.nudge import nudge
from monitor.notify.slack.incident import Policy
from tests.notify.interactive.given import BOB, click
from tests.notify.samples import ended, queue
from tests.notify.slack.bots import NAME
from tests.notify.slack.channels import Line
from tests.slackstub.clicks import button_of
from tests.slackstub.faults import Answer, Close, Fault, Reset, SlackError, rate_limited
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub


@pytest.fixture
def line(stub: SlackStub) -> Line:
    return Line(stub, Policy(has_buttons=True))


def acknowledge(line: Line, group: str = "g", user: str = BOB) -> None:
    """Do what the desk does with a click."""
    incident = line.incident(group)
    acked = decide(click(user=user), incident, None, line.clock.at, ()).incident
    assert acked is not None
    line.workspace.incidents.put(acked)
    line.outbox.put(Delivery(NAME, nudge(acked.told)), line.clock.at)


@pytest.mark.parametrize(
    "faults",
    [
        [],
        [Answer(503), Close(applied=True)],
        [Reset(applied=True)],
        [rate_limited("3")],
        [SlackError("internal_error", applied=True), SlackError("fatal_error")],
    ],
    ids=str,
)
def test_an_acknowledgement_is_shown_once_whatever_slack_answers(
    stub: SlackStub, line: Line, faults: list[Fault]
) -> None:
    line.tell(queue("a:1"))
    line.pass_time(MINUTE)
    (root,) = line.roots
    assert button_of(root, Button.ACK.action_id) is not None
    for method in ("chat.update", "chat.postMessage"):
        stub.fail_next(*faults, method=method)
    acknowledge(line)
    line.pass_time(5 * MINUTE)
    (root,) = line.roots
    assert "acknowledged by u0bob00001" in str(root.payload)
    assert button_of(root, Button.ACK.action_id) is None
    assert [reply.text.partition(",")[0] for reply in line.replies] == ["👀 *Acknowledged* by u0bob00001"]
    line.tell(ended(queue("a:1"), line.clock.at))
    line.pass_time(MINUTE)
    assert not [button for button in Button if button_of(line.roots[0], button.action_id)]


def test_a_click_takes_the_place_of_no_news_that_waits(stub: SlackStub, line: Line) -> None:
    line.tell(queue("a:1"))
    line.pass_time(MINUTE)
    stub.fail_next(*[Answer(503)] * 3, method="chat.update")
    line.tell(queue("a:1"), queue("b:1"))
    line.pass_time()
    acknowledge(line)
    line.pass_time(5 * MINUTE)
    assert "b:1" in str(line.roots[0].payload)
    assert "acknowledged by" in str(line.roots[0].payload)
    assert len(line.replies) == 2


def test_many_clicks_at_once_are_no_flood_of_incidents(line: Line) -> None:
    groups = [str(number) for number in range(12)]
    for group in groups:
        line.tell(queue(f"{group}:1"), group=group)
        line.pass_time(MINUTE)
    for group in groups:
        acknowledge(line, group)
    line.tell(queue("new:1"), group="new")
    line.pass_time(5 * MINUTE)
    assert len(line.roots) == len(groups) + 1
    assert {incident.group_key for incident in line.workspace.incidents.all()} == {*groups, "new"}
    assert sum("acknowledged by" in str(root.payload) for root in line.roots) == len(groups)


@pytest.mark.parametrize(("answered", "rings"), [(False, 1), (True, 0)])
def test_who_is_rung_for_while_slack_is_away_is_rung_for_when_it_is_back_unless_somebody_answered(
    *, answered: bool, rings: int
) -> None:
    with SlackStub() as stub:
        line = Line(stub)
        stub.fail_next(*[Answer(503)] * 8)
        line.tell(queue("a:1"))
        line.pass_time(MINUTE)
        assert line.roots == []
        called = ringing(line.incident(), 0, line.clock.at, Escalation(MINUTE, BOB))
        line.workspace.incidents.put(replace(called, acked_at=line.clock.at if answered else None))
        line.outbox.put(Delivery(NAME, nudge(called.told)), line.clock.at)
        line.pass_time(10 * MINUTE)
        assert len(line.roots) == 1
        assert [reply.text for reply in line.replies] == [f"<@{BOB}> not acknowledged for 1m"] * rings
        assert_invariants(stub, allowed_mentions=[f"@{BOB}"])


def test_a_silenced_incident_can_be_unsilenced_even_when_it_is_over(line: Line) -> None:
    line.tell(queue("a:1"))
    line.pass_time(MINUTE)
    line.workspace.incidents.put(replace(line.incident(), silence_id="s1"))
    line.tell(ended(queue("a:1"), line.clock.at))
    line.pass_time(MINUTE)
    shown = [button for button in Button if button_of(line.roots[0], button.action_id)]
    assert shown == [Button.UNSILENCE]
