"""What becomes of alerts while the daemon is down, and whose they are when the rules have changed meanwhile."""

from collections.abc import Sequence

import pytest

from monitor.model.instant import HOUR, MINUTE
from monitor.model.labels import Labels
from monitor.rules.alerting import ActiveAlert, AlertState
from monitor.rules.manager import Kept, Manager
from monitor.rules.restore import restored
from tests.rules.life import Life, groups_of

NOW = 100 * HOUR
INACTIVE, PENDING, FIRING = AlertState.INACTIVE, AlertState.PENDING, AlertState.FIRING


def pending(minutes: float) -> ActiveAlert:
    """An alert that had been pending for so long when the daemon went down, twenty minutes ago."""
    return ActiveAlert(Labels.of(alertname="A"), PENDING, NOW - round((20 + minutes) * MINUTE))


@pytest.mark.parametrize(
    ("hold", "stood", "remains"),
    [
        pytest.param(30, 5, 25, id="the time that the daemon was down does not count"),
        pytest.param(30, 25, 10, id="but what remains is at least the grace period"),
        pytest.param(30, 20, 10, id="exactly the grace period remains"),
        pytest.param(10, 4, 10, id="also of a for that is no longer than it"),
        pytest.param(5, 4, 1, id="a shorter for goes on where Prometheus would begin anew"),
        pytest.param(30, 30, -20, id="one that was through fires at once, and says since when it stands"),
        pytest.param(30, 40, -30, id="one that was through for long, too"),
    ],
)
def test_what_remains_of_for(hold: int, stood: int, remains: int) -> None:
    alert = restored(pending(stood), hold * MINUTE, NOW - 20 * MINUTE, NOW)
    assert alert is not None
    assert alert.state is PENDING
    assert alert.active_at + hold * MINUTE - NOW == remains * MINUTE


def test_after_an_outage_of_more_than_an_hour_a_pending_alert_begins_anew() -> None:
    alert = ActiveAlert(Labels.of(alertname="A"), PENDING, NOW - 2 * HOUR)
    assert restored(alert, 90 * MINUTE, NOW - HOUR, NOW) is not None
    assert restored(alert, 90 * MINUTE, NOW - HOUR - 1, NOW) is None


FIRED = ActiveAlert(Labels.of(alertname="A"), FIRING, NOW - 9 * HOUR, fired_at=NOW - 8 * HOUR)
KEPT_FIRING = ActiveAlert(
    Labels.of(alertname="A"), FIRING, NOW - 9 * HOUR, fired_at=NOW - 8 * HOUR, keep_firing_since=NOW - 7 * HOUR
)
RESOLVED = ActiveAlert(
    Labels.of(alertname="A"), INACTIVE, NOW - 9 * HOUR, fired_at=NOW - 8 * HOUR, resolved_at=NOW - 7 * HOUR
)


@pytest.mark.parametrize("alert", [FIRED, KEPT_FIRING, RESOLVED], ids=["firing", "kept firing", "resolved"])
def test_what_has_fired_goes_on_as_it_was_however_long_the_outage(alert: ActiveAlert) -> None:
    assert restored(alert, 10 * HOUR, NOW - 7 * HOUR, NOW) == alert


def rules(*alerts: str, group: str = "g") -> str:
    return "\n".join([f"- name: {group}", "  rules:", *(f"    - {alert}" for alert in alerts)])


def life(*groups: str) -> Life:
    return Life(groups_of("groups:\n" + "\n".join(groups)))


def kept(manager: Manager) -> list[Kept]:
    """Return what a journal has of the manager's alerts."""
    return manager.changes()[0]


def restart(before: Life, *groups: str, minutes: int, trust: int = 0) -> Life:
    """Return new rules with the alerts of `before`, whose daemon ended just now and is back after so many minutes."""
    after = life(*groups)
    down_at = max(group.last_evaluation for group in before.manager.groups)
    now = down_at + minutes * MINUTE
    after.manager.restore(kept(before.manager), down_at, now, now + trust * MINUTE)
    return after


def told(found: Life, minute: int) -> list[tuple[str, str]]:
    """Return the alerts that dispatch hears of, and whether they fire."""
    alerts = found.manager.evaluate(minute * MINUTE)
    return [(one.labels.value("severity") or one.name, "fires" if one.ends_at is None else "is over") for one in alerts]


A = "{alert: A, expr: '1'}"


def firing(*groups: str) -> Life:
    found = life(*groups)
    found.manager.evaluate(0)
    return found


def test_a_firing_alert_is_the_same_alert_after_a_restart() -> None:
    after = restart(firing(rules(A)), rules(A), minutes=30)
    (alert,) = after.manager.evaluate(30 * MINUTE)
    assert (alert.active_at, alert.starts_at, alert.ends_at) == (0, 0, None)


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([rules("{alert: B, expr: none}"), rules(A, group="other")], id="to another group"),
        pytest.param([rules("{alert: B, expr: none}", A)], id="within its group"),
    ],
)
def test_a_rule_that_was_moved_meanwhile_goes_on(groups: Sequence[str]) -> None:
    after = restart(firing(rules(A)), *groups, minutes=30)
    assert [alert.starts_at for alert in after.manager.evaluate(30 * MINUTE)] == [0]


def test_the_row_of_an_alert_moves_with_its_rule() -> None:
    after = restart(firing(rules(A)), rules(A, group="other"), minutes=30)
    (row,), gone = after.manager.changes()
    assert row.key == ("other", "A", Labels.of(alertname="A"))
    assert gone == [("g", "A", Labels.of(alertname="A"))]
    assert after.manager.changes() == ([], [])


def test_an_alert_whose_rule_is_gone_is_told_as_over_until_everybody_has_heard() -> None:
    after = restart(firing(rules(A)), rules("{alert: B, expr: none}"), minutes=30)
    assert [told(after, minute) for minute in (30, 31, 45)] == [[("A", "is over")]] * 3
    (row,), gone = after.manager.changes()
    assert (row.key, row.alert.state, row.alert.resolved_at) == (
        ("g", "A", Labels.of(alertname="A")),
        INACTIVE,
        30 * MINUTE,
    )
    assert gone == []
    assert told(after, 46) == []
    assert after.manager.changes() == ([], [row.key])


def test_one_whose_rule_is_gone_is_still_told_as_over_after_the_next_restart() -> None:
    first = restart(firing(rules(A)), rules("{alert: B, expr: none}"), minutes=30)
    first.manager.evaluate(30 * MINUTE)
    second = restart(first, rules("{alert: B, expr: none}"), minutes=5)
    assert told(second, 35) == [("A", "is over")]
    assert told(second, 46) == []


def test_a_pending_alert_whose_rule_is_gone_is_forgotten() -> None:
    after = restart(firing(rules("{alert: A, expr: '1', for: 5m}")), rules("{alert: B, expr: none}"), minutes=1)
    assert told(after, 1) == []
    ((key, *_),) = [after.manager.changes()[1]]
    assert key == ("g", "A", Labels.of(alertname="A"))


def test_when_a_label_of_the_rule_changes_the_old_alert_is_over_and_another_fires() -> None:
    before = firing(rules("{alert: A, expr: '1', labels: {severity: warning}}"))
    after = restart(before, rules("{alert: A, expr: '1', labels: {severity: critical}}"), minutes=1)
    assert told(after, 1) == [("critical", "fires"), ("warning", "is over")]


def test_one_that_is_over_with_its_rule_and_that_another_rule_finds_fires() -> None:
    before = firing(rules("{alert: A, expr: '1', labels: {severity: a}}"))
    after = restart(before, rules("{alert: A, expr: '1', labels: {severity: '{{ `a` }}', x: y}}"), minutes=1)
    assert told(after, 1) == [("a", "fires"), ("a", "is over")]
    replaced = restart(before, rules("{alert: A, expr: '1', labels: {severity: '{{ `a` }}'}}"), minutes=1)
    assert told(replaced, 1) == [("a", "fires")]


TWO = ("{alert: A, expr: vector(1), labels: {severity: low}}", "{alert: A, expr: vector(2), labels: {severity: high}}")
ALIKE = (
    "{alert: A, expr: \"label_replace(vector(1), 'severity', 'low', '', '')\"}",
    "{alert: A, expr: \"label_replace(vector(1), 'severity', 'high', '', '')\"}",
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(TWO, TWO, id="told apart by their labels"),
        pytest.param(TWO, TWO[::-1], id="told apart by their labels, wherever they stand"),
        pytest.param(ALIKE, ALIKE, id="told apart by nothing but their places"),
    ],
)
def test_two_rules_of_one_name_keep_their_own_alerts(before: Sequence[str], after: Sequence[str]) -> None:
    back = restart(firing(rules(*before)), rules(*after), minutes=1)
    alerts = back.manager.evaluate(MINUTE)
    assert {one.labels.value("severity"): (one.starts_at, one.ends_at) for one in alerts} == {
        "low": (0, None),
        "high": (0, None),
    }


def test_absence_is_not_trusted_before_the_window_can_be() -> None:
    back = restart(firing(rules(A)), rules("{alert: A, expr: none}"), minutes=1, trust=5)
    assert [told(back, minute) for minute in (1, 5, 6)] == [[("A", "fires")], [("A", "fires")], [("A", "is over")]]


def test_a_pending_alert_that_is_not_found_at_once_keeps_its_place() -> None:
    before = firing(rules("{alert: A, expr: '1', for: 3m}"))
    back = restart(before, rules("{alert: A, expr: m, for: 3m}"), minutes=1, trust=2)
    m = {Labels.of(__name__="m"): [None, None, 1.0, 1.0, 1.0]}
    heard = []
    for minute in range(1, 5):
        back.feed(m, minute)
        heard.append(told(back, minute))
    # A minute of its three was spent while nothing could be seen.
    assert heard == [[], [], [], [("A", "fires")]]


def test_keep_firing_for_goes_on_over_a_restart() -> None:
    before = life(rules("{alert: A, expr: m, keep_firing_for: 10m}"))
    before.play({Labels.of(__name__="m"): [1.0, None, None, None, None, None]}, 7)
    back = restart(before, rules("{alert: A, expr: m, keep_firing_for: 10m}"), minutes=1)
    assert [told(back, minute) for minute in (14, 15)] == [[("A", "fires")], [("A", "is over")]]
