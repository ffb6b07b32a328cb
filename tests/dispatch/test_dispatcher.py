"""Dispatch on a time line: alerts are pushed at an instant, notifications are expected at an instant."""

from dataclasses import dataclass, field, replace

from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.nflog import NotificationLog
from monitor.dispatch.notification import Reason
from monitor.dispatch.route import Route, route_key
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, SECOND
from monitor.model.labels import EMPTY, Labels
from monitor.model.matcher import equal

CRITICAL = (equal("severity", "critical"),)
ROUTE = Route("oncall", group_by=("alertname",), group_wait=2 * SECOND, group_interval=5 * SECOND, repeat_interval=HOUR)


def alert(name: str, at: float = 0, until: float | None = None, **labels: str) -> Alert:
    ends_at = None if until is None else round(until * SECOND)
    return Alert(Labels.of(alertname=name, **labels), EMPTY, round(at * SECOND), ends_at)


def receivers(*, send_resolved: bool = True) -> dict[str, list[Integration]]:
    return {name: [Integration(f"{name}/fake[0]", send_resolved)] for name in ("oncall", "pager", "ticket")}


@dataclass
class Line:
    """A dispatcher on a clock of seconds."""

    route: Route = ROUTE
    send_resolved: bool = True
    dispatcher: Dispatcher = field(init=False)

    def __post_init__(self) -> None:
        self.dispatcher = Dispatcher(self.route, receivers(send_resolved=self.send_resolved))

    def push(self, at: float, *alerts: Alert) -> None:
        self.dispatcher.insert(alerts, round(at * SECOND))

    def told(self, at: float) -> list[tuple[str, str, str]]:
        """Return (receiver, firing, resolved) of what leaves at `at`, alerts by the letters of their instances."""
        return [
            (
                delivery.notification.receiver,
                "".join(one.labels.value("instance") for one in delivery.notification.firing),
                "".join(one.labels.value("instance") for one in delivery.notification.resolved),
            )
            for delivery in self.dispatcher.due(round(at * SECOND)).deliveries
        ]


def test_a_group_waits_for_group_wait_and_a_late_joiner_rides_with_the_first_flush() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    line.push(1.9, alert("Down", 1.9, instance="b"))
    assert line.told(1.99) == []
    assert line.told(2) == [("oncall", "ab", "")]


def test_what_joins_later_waits_for_group_interval() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    line.told(2)
    line.push(3, alert("Down", 3, instance="b"))
    assert line.told(6.9) == []
    assert line.told(7) == [("oncall", "ab", "")]


def test_who_edits_what_it_has_told_hears_how_things_stand_while_something_fires() -> None:
    editor = {"oncall": [Integration("oncall/fake[0]", send_resolved=True, edits=True)]}
    dispatcher = Dispatcher(ROUTE, editor)
    dispatcher.insert([alert("Down", instance="a")], 0)
    reasons = []
    for second in (2, 7, 12):
        flush = dispatcher.due(second * SECOND)
        reasons.append([delivery.notification.reason for delivery in flush.deliveries])
        # That nothing is new is no entry of the log: repeat_interval counts from the last news.
        assert len(flush.entries) == (second == 2)
    dispatcher.insert([alert("Down", until=13, instance="a")], 13 * SECOND)
    reasons += [
        [delivery.notification.reason for delivery in dispatcher.due(at * SECOND).deliveries] for at in (17, 22)
    ]
    assert reasons == [[Reason.FIRST], [Reason.REFRESH], [Reason.REFRESH], [Reason.ALL_RESOLVED], []]


def test_other_group_labels_are_another_group() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"), alert("Slow", instance="b"))
    assert sorted(line.told(2)) == [("oncall", "a", ""), ("oncall", "b", "")]


def test_a_resolved_alert_is_told_once_and_the_group_is_gone() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    line.told(2)
    line.push(3, alert("Down", until=3, instance="a"))
    assert line.told(7) == [("oncall", "", "a")]
    assert line.dispatcher.next_due() is None
    line.push(8, alert("Down", until=3, instance="a"))
    assert line.dispatcher.next_due() is None


def test_an_alert_that_resolves_before_its_first_flush_is_not_told() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    line.push(1, alert("Down", until=1, instance="a"))
    assert line.told(2) == []
    assert line.dispatcher.next_due() is None


def test_a_receiver_that_does_not_want_resolved_hears_of_the_next_firing() -> None:
    line = Line(send_resolved=False)
    line.push(0, alert("Down", instance="a"))
    assert line.told(2) == [("oncall", "a", "")]
    line.push(3, alert("Down", until=3, instance="a"))
    assert line.told(7) == []
    line.push(8, alert("Down", 8, instance="a"))
    assert line.told(10) == [("oncall", "a", "")]


def test_an_alert_that_stood_before_the_start_is_told_at_once() -> None:
    line = Line()
    line.push(100, alert("Down", 10, instance="a"))
    assert line.told(100) == [("oncall", "a", "")]


def test_the_repeat_comes_with_the_first_tick_after_repeat_interval() -> None:
    line = Line(replace(ROUTE, repeat_interval=16 * SECOND))
    line.push(0, alert("Down", instance="a"))
    told = [at for at in range(2, 40) if line.told(at)]
    assert told == [2, 22]


def test_the_deepest_matching_route_is_taken_and_continue_goes_on() -> None:
    pager = Route("pager", matchers=CRITICAL, continue_=True, key=route_key(CRITICAL, "{}"))
    ticket = Route("ticket", matchers=(equal("team", "llm"),), key="{}/t")
    line = Line(replace(ROUTE, group_wait=0, routes=(replace(pager, group_wait=0), replace(ticket, group_wait=0))))
    line.push(0, alert("Down", instance="a", severity="critical", team="llm"), alert("Slow", instance="b"))
    assert sorted(line.told(0)) == [("oncall", "b", ""), ("pager", "a", ""), ("ticket", "a", "")]


def test_the_reason_travels_with_the_notification() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    (delivery,) = line.dispatcher.due(2 * SECOND).deliveries
    assert delivery.notification.reason is Reason.FIRST
    assert delivery.notification.group_key == '{}:{alertname="Down"}'


def test_a_new_route_tree_neither_repeats_nor_loses_what_stands() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    line.told(2)
    line.push(3, alert("Down", until=3, instance="a"))
    line.dispatcher.reconfigure(ROUTE, {"oncall": [Integration("oncall/fake[0]", send_resolved=True)]}, (), 4 * SECOND)
    assert line.told(6.9) == []
    assert line.told(7) == [("oncall", "", "a")]


def test_who_was_told_of_an_alert_before_a_restart_hears_that_it_resolved() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    told = line.dispatcher.due(2 * SECOND)
    again = Dispatcher(ROUTE, receivers(), log=NotificationLog(dict(told.entries)))
    again.insert([alert("Down", until=60, instance="a"), alert("Other", until=60, instance="a")], 61 * SECOND)
    (delivery,) = again.due(61 * SECOND + ROUTE.group_wait).deliveries
    assert (delivery.notification.reason, len(delivery.notification.resolved)) == (Reason.ALL_RESOLVED, 1)


def test_every_notification_is_recorded_with_the_look_that_made_it() -> None:
    line = Line()
    line.push(0, alert("Down", instance="a"))
    flush = line.dispatcher.due(2 * SECOND)
    ((key, entry),) = flush.entries
    assert key == ('{}:{alertname="Down"}', "oncall/fake[0]")
    assert (entry.at, len(entry.firing)) == (2 * SECOND, 1)
