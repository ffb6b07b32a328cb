"""What is due is done once, whatever happens in the same moment; and a nudge walks beside the notifications."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.inhibit import Inhibitor, InhibitRule
from monitor.dispatch.muting import Muting
from monitor.dispatch.notification import Notification
from monitor.dispatch.route import Route
from monitor.dispatch.silence import Silence, Silences
from monitor.dispatch.store import AlertStore
from monitor.dispatch.timeinterval import Span, TimeInterval
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.model.matcher import equal
from monitor.notify.interactive.escalation import Escalation, Stage
from monitor.notify.interactive.escalator import Escalator
from monitor.notify.interactive.nudge import nudge, nudged
from monitor.notify.interactive.quiet import Quiet
from monitor.notify.outbox import Outbox
from monitor.notify.slack.incident import Incident, Key, Reply
from monitor.notify.slack.incidents import Incidents
from tests.notify.interactive.given import INTEGRATION, incident
from tests.notify.samples import NOW, queue

AT = NOW + 10 * MINUTE
# NOW is 06:05:05 UTC: the first twelve minutes from then on, and all that follow.
FIRST = TimeInterval(times=(Span(6 * 60 + 5, 6 * 60 + 16),))
LATER = TimeInterval(times=(Span(6 * 60 + 17, 8 * 60),))


class Racing(Incidents):
    """Somebody acknowledges in the moment in which the incident is escalated."""

    def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident:
        current = self.get(key)
        assert current is not None
        self.put(replace(current, acked_by="bob", acked_at=NOW))
        return super().change(key, how)


def looking(incidents: Incidents, touched: list[Incident], passed: list[Incident]) -> Escalator:
    escalator = Escalator(incidents, Silences(), touched.append, passed.append)
    escalator.escalation = Escalation(5 * MINUTE, "here", "second")
    return escalator


def test_each_step_is_done_once() -> None:
    touched: list[Incident] = []
    passed: list[Incident] = []
    incidents = Incidents([incident()])
    escalator = looking(incidents, touched, passed)
    for _ in range(3):
        escalator.look(AT - MINUTE)
    assert ([one.escalated for one in touched], passed) == ([Stage.MENTIONED], [])
    for _ in range(3):
        escalator.look(AT)
    assert [(one.escalated, one.passed_to) for one in passed] == [(Stage.PASSED_ON, "second")]
    assert [one.escalated for one in incidents.all()] == [Stage.PASSED_ON]


def test_a_flood_rings_once_and_what_comes_soon_after_waits_for_the_next_time() -> None:
    touched: list[Incident] = []
    flood = [incident(id=f"id{n}", group_key=f"group {n}") for n in range(300)]
    late = incident(id="late", group_key="late", alarmed_at=NOW + 10_000)
    incidents = Incidents([*flood, late])
    escalator = looking(incidents, touched, [])
    for seconds in range(0, 90, 5):
        escalator.look(NOW + 5 * MINUTE + seconds * 1_000)
    said = [reply.text for one in touched for reply in one.owed if isinstance(reply, Reply)]
    assert said == [
        "<!here> not acknowledged for 5m, and 299 other incidents",
        "<!here> not acknowledged for 5m50s",
    ]
    assert {one.escalated for one in incidents.all()} == {Stage.MENTIONED}


def muting(*rules: InhibitRule, silences: Silences | None = None) -> Muting:
    """Return what mutes; the cause that rules may name is over at minute 12, and so is the interval `first`."""
    store = AlertStore()
    store.put(Alert(Labels.of(alertname="Cause"), Labels(), NOW, NOW + 12 * MINUTE), NOW)
    return Muting(Inhibitor(rules, store), {"first": (FIRST,), "later": (LATER,)}, silences or Silences())


def silenced(*minutes: int) -> Silences:
    silences = Silences()
    for number, until in enumerate(minutes):
        matcher = (equal("instance", f"{number}:1"),)
        silences.set(Silence("", matcher, NOW, NOW + until * MINUTE, "bob", "vllm-monitor silence add"), NOW)
    return silences


TWO = incident(queue("0:1"), queue("1:1"))
MUTED = Route("oncall", mute_time_intervals=("first",))


@pytest.mark.parametrize(
    ("told", "quiet", "rings"),
    [
        pytest.param(TWO, Quiet(Route("oncall"), muting()), 5, id="by nothing"),
        pytest.param(TWO, Quiet(Route("oncall"), muting(silences=silenced(60, 12))), 15, id="by silences"),
        pytest.param(TWO, Quiet(Route("oncall"), muting(silences=silenced(60))), 5, id="one of two by a silence"),
        pytest.param(
            TWO,
            Quiet(Route("oncall"), muting(InhibitRule((equal("alertname", "Cause"),), (equal("job", "vllm"),)))),
            15,
            id="by its cause",
        ),
        pytest.param(TWO, Quiet(MUTED, muting()), 15, id="by the times of its route"),
        pytest.param(
            TWO, Quiet(Route("oncall", active_time_intervals=("later",)), muting()), 15, id="before its time begins"
        ),
        pytest.param(
            TWO,
            Quiet(Route("oncall", routes=(replace(MUTED, matchers=(equal("job", "other"),), key="{}/x"),)), muting()),
            5,
            id="by the times of another route",
        ),
        pytest.param(
            replace(TWO, group_key="digest/vllm"), Quiet(MUTED, muting()), 15, id="a digest by the times of its routes"
        ),
        pytest.param(
            replace(TWO, group_key="alertmanager:x"), Quiet(MUTED, muting()), 5, id="Alertmanager's by times of ours"
        ),
        pytest.param(
            replace(TWO, group_key="alertmanager:x"),
            Quiet(MUTED, muting(silences=silenced(60, 12))),
            15,
            id="Alertmanager's by silences",
        ),
    ],
)
def test_what_is_muted_rings_for_nobody_until_a_while_after_that(told: Incident, quiet: Quiet, rings: int) -> None:
    touched: list[Incident] = []
    passed: list[Incident] = []
    escalator = looking(Incidents([told]), touched, passed)
    escalator.quiet = quiet
    rang = []
    for minute in range(30):
        escalator.look(NOW + minute * MINUTE)
        rang.append((bool(touched), bool(passed)))
    assert (rang.index((True, False)), rang.index((True, True))) == (rings, rings + 5)


def test_who_acknowledges_in_the_last_moment_is_in_time() -> None:
    touched: list[Incident] = []
    passed: list[Incident] = []
    incidents = Racing([incident()])
    looking(incidents, touched, passed).look(AT)
    assert (touched, passed) == ([], [])
    assert [one.acked_by for one in incidents.all()] == ["bob"]


def test_a_nudge_takes_the_place_of_no_notification_and_names_its_group() -> None:
    class Slow:
        def notify(self, notification: Notification) -> None:
            told.append(notification)

    told: list[Notification] = []
    outbox = Outbox({INTEGRATION: Slow()}, lambda _: None)
    news = incident().told
    outbox.put(Delivery(INTEGRATION, news), NOW)
    outbox.put(Delivery(INTEGRATION, nudge(news)), NOW)
    outbox.put(Delivery(INTEGRATION, nudge(news)), NOW)
    outbox.deliver_due(NOW)
    assert [nudged(one) for one in told] == [None, news.group_key]
    assert told[0] == news
