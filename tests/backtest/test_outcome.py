"""From the life of alerts to episodes, and two outcomes side by side."""

import pytest

from monitor.backtest.compare import compare
from monitor.backtest.outcome import FLAP, Episode, Fired, Observer, Outcome, RuleName
from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.rules.alerting import ActiveAlert, AlertState

A = Labels.of(alertname="A", instance="a", severity="critical")
EMPTY = Outcome(0, 100 * MINUTE, MINUTE)


def alert(state: AlertState, active: int, fired: int | None = None, resolved: int | None = None) -> ActiveAlert:
    return ActiveAlert(A, state, active, fired_at=fired, resolved_at=resolved)


def observed(*looks: ActiveAlert | None) -> Outcome:
    observer = Observer()
    for look in looks:
        observer.look(0, {A: look} if look is not None else {})
    return observer.outcome(EMPTY, [RuleName("g", "A", alert=True), RuleName("g", "B", alert=True)], [1])


def test_an_alert_that_fires_twice_has_two_episodes() -> None:
    pending, firing, inactive = AlertState.PENDING, AlertState.FIRING, AlertState.INACTIVE
    outcome = observed(
        alert(pending, 1),
        alert(firing, 1, 3),
        alert(firing, 1, 3),
        alert(inactive, 1, 3, 5),
        alert(pending, 7),
        alert(firing, 7, 8),
    )
    (fired,) = outcome.fired
    assert fired.episodes == (Episode(1, 3, 5), Episode(7, 8))
    assert (fired.first, fired.last, fired.firing(20)) == (3, None, 14)
    assert outcome.quiet == {}
    assert outcome.blind == (RuleName("g", "B", alert=True),)


def test_what_was_only_pending_is_quiet_but_nearly_fired() -> None:
    pending = AlertState.PENDING
    assert observed(alert(pending, 1), None, alert(pending, 5), alert(pending, 5), None).quiet == {"A": 2}


@pytest.mark.parametrize(("pause", "flaps"), [(1, 1), (FLAP, 1), (FLAP + 1, 0)])
def test_what_fires_again_soon_flaps(pause: int, flaps: int) -> None:
    assert Fired(A, (Episode(0, 0, 10), Episode(0, 10 + pause, None))).flaps == flaps


def test_messages_count_for_their_worst_alert_and_refreshed_numbers_do_not() -> None:
    observer = Observer()
    observer.look(0, {A: alert(AlertState.FIRING, 0, 0)})
    warning = Alert(Labels.of(alertname="W", severity="warning"), Labels(), 0)
    for reason in (Reason.FIRST, Reason.REFRESH, Reason.REPEAT):
        note = Notification("r", "g", Labels(), (Alert(A, Labels(), 0), warning), 10, reason)
        observer.hear(Delivery("r/slack[0]", note))
    outcome = observer.outcome(EMPTY, [RuleName("g", "A", alert=True)], [])
    assert outcome.messages == {"critical": 2}
    assert outcome.fired[0].messages == 2


def fired(name: str, *episodes: tuple[int, int | None], severity: str = "critical") -> Fired:
    labels = Labels.of(alertname=name, severity=severity)
    return Fired(labels, tuple(Episode(begin, begin, end) for begin, end in episodes))


def test_two_sets_of_rules_side_by_side() -> None:
    hour = 60 * MINUTE
    first = Outcome(0, 100 * hour, MINUTE, (fired("Both", (hour, 2 * hour), (50 * hour, None)), fired("Old", (5, 6))))
    second = Outcome(
        0,
        100 * hour,
        MINUTE,
        (fired("Both", (hour + 30_000, 3 * hour), (70 * hour, None), severity="warning"), fired("New", (7, 8))),
    )
    found = compare(first, second)
    assert [one.labels.value("alertname") for one in found.only_first] == ["Old"]
    assert [one.labels.value("alertname") for one in found.only_second] == ["New"]
    # The second overlaps, however much later it comes.
    assert [one.later for one in found.both] == [30_000, 20 * hour]


def test_the_same_alert_hours_apart_is_about_other_trouble() -> None:
    hour = 60 * MINUTE
    first, second = (
        Outcome(0, 100 * hour, MINUTE, (fired("A", (begin, begin + MINUTE)),)) for begin in (hour, 9 * hour)
    )
    found = compare(first, second)
    assert (len(found.only_first), len(found.only_second), found.both) == (1, 1, ())
