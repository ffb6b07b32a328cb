"""What is due is done once, whatever happens in the same moment; and a nudge walks beside the notifications."""

from collections.abc import Callable
from dataclasses import replace

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification
from monitor.dispatch.silence import Silence, Silences
from monitor.model.instant import MINUTE
from monitor.model.matcher import equal
from monitor.notify.interactive.escalation import Escalation, Stage
from monitor.notify.interactive.escalator import Escalator
from monitor.notify.interactive.nudge import nudge, nudged
from monitor.notify.outbox import Outbox
from monitor.notify.slack.incident import Incident, Key, Reply
from monitor.notify.slack.incidents import Incidents
from tests.notify.interactive.given import INTEGRATION, incident
from tests.notify.samples import NOW, queue

AT = NOW + 10 * MINUTE


class Racing(Incidents):
    """Somebody acknowledges in the moment in which the incident is escalated."""

    def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident:
        current = self.get(key)
        assert current is not None
        self.put(replace(current, acked_by="bob", acked_at=NOW))
        return super().change(key, how)


def looking(
    incidents: Incidents, touched: list[Incident], passed: list[Incident], silences: Silences | None = None
) -> Escalator:
    escalator = Escalator(incidents, silences or Silences(), touched.append, passed.append)
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


def test_what_somebody_silenced_by_a_command_rings_for_nobody_until_a_while_after_the_silence() -> None:
    touched: list[Incident] = []
    passed: list[Incident] = []
    incidents = Incidents([incident(queue("a:1"), queue("b:1"))])
    silences = Silences()
    escalator = looking(incidents, touched, passed, silences)
    for instance, minutes in (("a:1", 60), ("b:1", 12)):
        matcher = (equal("instance", instance),)
        silences.set(Silence("", matcher, NOW, NOW + minutes * MINUTE, "bob", "vllm-monitor silence add"), NOW)
    rang = []
    for minute in range(30):
        escalator.look(NOW + minute * MINUTE)
        rang.append((bool(touched), bool(passed)))
    assert (rang.index((True, False)), rang.index((True, True))) == (15, 20)


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
