"""Who watches the watcher: what stands still is told by the dispatcher, without rules."""

from collections.abc import Mapping, Sequence

import pytest

from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.nflog import NotificationLog
from monitor.dispatch.notification import Notification
from monitor.dispatch.route import Route
from monitor.model.instant import MINUTE
from monitor.notify.heartbeat import Verdict
from monitor.stalled import NAME, Stalled

ALIVE, STUCK, BLIND, MUTE = Verdict.ALIVE, Verdict.NO_EVALUATIONS, Verdict.NO_SCRAPES, Verdict.NOT_TELLING
RECEIVERS: Mapping[str, Sequence[Integration]] = {"oncall": [Integration("oncall/slack[0]", send_resolved=True)]}


def dispatcher(log: NotificationLog | None = None) -> Dispatcher:
    return Dispatcher(Route("oncall", group_wait=0, group_interval=MINUTE), RECEIVERS, log=log)


def live(stalled: Stalled, at: Dispatcher, *verdicts: Verdict, start: int = MINUTE) -> list[list[Notification]]:
    """Return what is told after each verdict, a minute apart."""
    told = []
    for number, verdict in enumerate(verdicts):
        now = start + number * MINUTE
        stalled.hear(verdict, now)
        told.append([delivery.notification for delivery in at.due(now).deliveries])
    return told


@pytest.mark.parametrize("verdict", [STUCK, BLIND])
def test_at_the_second_bad_verdict_it_is_told_once_and_its_end_when_all_is_well(verdict: Verdict) -> None:
    at = dispatcher()
    told = live(Stalled(at, "here:9100"), at, ALIVE, verdict, verdict, verdict, ALIVE)
    assert [len(one) for one in told] == [0, 0, 1, 0, 1]
    (first,), (last,) = told[2], told[4]
    (alert,) = first.firing
    assert (alert.name, alert.labels.value("severity"), alert.labels.value("instance")) == (
        NAME,
        "critical",
        "here:9100",
    )
    assert last.is_resolved


def test_one_bad_verdict_and_a_receiver_that_cannot_be_told_are_nobodys_news() -> None:
    at = dispatcher()
    assert not any(live(Stalled(at, "i"), at, STUCK, ALIVE, BLIND, ALIVE, MUTE, MUTE, MUTE))


def test_what_an_earlier_life_told_ends_with_the_first_good_verdict() -> None:
    log = NotificationLog()
    before, after = dispatcher(log), dispatcher(log)
    assert live(Stalled(before, "i"), before, STUCK, STUCK)[1]
    (told,) = live(Stalled(after, "i"), after, ALIVE, start=10 * MINUTE)
    assert [one.is_resolved for one in told] == [True]
