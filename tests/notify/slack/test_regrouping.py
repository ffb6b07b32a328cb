"""A message whose group is no more, since the routes were changed, does not stay red for ever."""

from dataclasses import replace

import pytest

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.group import group_key
from monitor.dispatch.notification import Reason
from monitor.dispatch.route import Route
from monitor.model.instant import MINUTE, SECOND
from monitor.notify.interactive.nudge import nudge
from monitor.notify.slack.incident import Incident, Policy
from monitor.notify.slack.regrouping import close_strays
from tests.notify.samples import queue
from tests.notify.slack.bots import NAME
from tests.notify.slack.channels import Line
from tests.slackstub.stub import SlackStub

A = queue("a:1")
BY_NAME = Route("oncall", group_by=("alertname",))
BY_INSTANCE = replace(BY_NAME, group_by=("alertname", "instance"))
ELSEWHERE = replace(BY_NAME, receiver="other")
RECEIVERS = {"oncall": [Integration(NAME, send_resolved=True)], "other": [Integration("other/slack[0]", True)]}


def key(route: Route) -> str:
    return group_key(route, route.group_labels(A.labels))


def reloaded(line: Line, route: Route, receivers: dict[str, list[Integration]] | None = None) -> list[Incident]:
    """Look for strays as a daemon does that has these routes; return those that owe something."""
    touched: list[Incident] = []
    close_strays(
        line.workspace.incidents, route, RECEIVERS if receivers is None else receivers, line.clock.at, touched.append
    )
    for incident in touched:
        line.outbox.put(Delivery(NAME, nudge(incident.told)), line.clock.at)
    line.pass_time(MINUTE)
    return touched


def test_as_long_as_its_group_is_there_nothing_happens(stub: SlackStub) -> None:
    line = Line(stub)
    line.tell(A, group=key(BY_NAME))
    line.pass_time(MINUTE)
    assert reloaded(line, replace(BY_NAME, repeat_interval=MINUTE)) == []
    assert line.incident(key(BY_NAME)).is_open


@pytest.mark.parametrize("route", [BY_INSTANCE, ELSEWHERE], ids=["grouped in another way", "told to another receiver"])
def test_a_message_whose_alerts_are_told_elsewhere_says_so_and_is_closed(stub: SlackStub, route: Route) -> None:
    line = Line(stub, Policy(has_buttons=True))
    line.tell(A, group=key(BY_NAME))
    line.pass_time(MINUTE)
    reloaded(line, route)
    (root,), (reply,) = line.roots, line.replies
    assert root.text.startswith("⚪ MOVED: vLLM's queue has been long")
    assert "the routes have changed" in str(root.payload["attachments"])
    assert "vllm_monitor_ack" not in str(root.payload)
    assert reply.text.startswith("⚪ *Moved:*")
    assert not line.incident(key(BY_NAME)).is_open
    # Once is enough, and a letter that was late opens nothing.
    assert reloaded(line, route) == []
    line.bot.notify(replace(line.incident(key(BY_NAME)).told, id="late", reason=Reason.REPEAT))
    assert len(stub.messages) == 2


def test_the_new_group_has_a_message_of_its_own_and_the_old_one_begins_anew_when_it_is_back(stub: SlackStub) -> None:
    line = Line(stub)
    line.tell(A, group=key(BY_NAME))
    line.pass_time(MINUTE)
    reloaded(line, BY_INSTANCE)
    line.tell(A, group=key(BY_INSTANCE))
    line.pass_time(10 * SECOND)
    assert [root.text[0] for root in line.roots] == ["⚪", "🟠"]
    reloaded(line, BY_NAME)
    line.tell(A, group=key(BY_NAME))
    line.pass_time(10 * SECOND)
    assert [root.text[0] for root in line.roots] == ["⚪", "⚪", "🟠"]


def test_a_digest_is_closed_with_the_last_of_its_members(stub: SlackStub) -> None:
    line = Line(stub, Policy(digest_above=1))
    b = queue("b:1", alertname="Other")
    line.tell(A, group=key(BY_NAME))
    line.tell(b, group=group_key(BY_NAME, BY_NAME.group_labels(b.labels)))
    line.pass_time(10 * SECOND)
    assert len(line.roots) == 1
    reloaded(line, BY_INSTANCE)
    assert line.roots[0].text.startswith("⚪ MOVED: 2 alerts at once")
    assert line.workspace.incidents.open() == []


def test_one_whose_receiver_is_gone_is_closed_without_a_word(stub: SlackStub) -> None:
    line = Line(stub)
    line.tell(A, group=key(BY_NAME))
    line.pass_time(MINUTE)
    assert reloaded(line, ELSEWHERE, {"other": RECEIVERS["other"]}) == []
    assert line.workspace.incidents.open() == []
