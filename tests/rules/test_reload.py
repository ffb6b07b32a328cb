"""A reload: which state is carried over, which series go on, and who hears that an alert is over."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND
from monitor.model.labels import Labels
from monitor.rules.alerting import AlertState
from monitor.rules.context import Context
from monitor.rules.spec import RuleGroup
from monitor.storage import snapshot
from tests.rules.life import Life, groups_of

ONE = {Labels.of(__name__="m", instance="a"): [1.0] * 100}
IDLE = "{alert: Idle, expr: none}"


def group(*rules: str, name: str = "g", file: str = "a.yaml", more: str = "") -> tuple[RuleGroup, ...]:
    lines = "\n".join(f"    - {rule}" for rule in rules)
    return groups_of(f"groups:\n- name: {name}\n  rules:\n{lines}\n  {more}\n", file)


def lived(groups: Sequence[RuleGroup], steps: int) -> Life:
    """Return rules that were evaluated at so many minutes, beginning with 0."""
    life = Life(groups)
    life.play(ONE, steps)
    return life


def go_on(life: Life, minute: int) -> list[Alert]:
    life.feed(ONE, minute)
    return life.manager.evaluate(minute * MINUTE)


def states(life: Life) -> list[AlertState]:
    return [alert.state for group in life.manager.groups for rule in group.alerting for alert in rule.active.values()]


A = "{alert: A, expr: m, for: 3m}"
PLACES = [
    pytest.param(group(A), id="nothing changed"),
    pytest.param(group("{alert: A, expr: m > 0, for: 3m, annotations: {summary: new}}"), id="expression and texts"),
    pytest.param(group(IDLE, A), id="a rule before it"),
    pytest.param(group(A, name="renamed"), id="its group was renamed"),
    pytest.param(group(A, file="b.yaml"), id="its file was renamed"),
    pytest.param((*group(IDLE), *group(A, name="other")), id="it stands in another group"),
    pytest.param(group(A, more="interval: 30s"), id="another interval"),
]


@pytest.mark.parametrize("after", PLACES)
def test_a_pending_alert_keeps_its_clock(after: Sequence[RuleGroup]) -> None:
    life = lived(group(A), 2)
    assert life.reload(after, MINUTE + 1) == []
    assert [alert.name for alert in go_on(life, 2)] == []
    assert [(alert.active_at, alert.starts_at) for alert in go_on(life, 3)] == [(0, 3 * MINUTE)]


@pytest.mark.parametrize("after", PLACES)
def test_a_firing_alert_goes_on_firing_and_its_series_have_no_hole(after: Sequence[RuleGroup]) -> None:
    life = lived(group(A), 4)
    assert life.reload(after, 3 * MINUTE + 1) == []
    assert [(alert.starts_at, alert.ends_at) for alert in go_on(life, 4)] == [(3 * MINUTE, None)]
    for at in (3 * MINUTE, 3 * MINUTE + 1, 4 * MINUTE - 1, 4 * MINUTE):
        assert life.answer("ALERTS", at) == [
            (Labels.of(__name__="ALERTS", alertname="A", alertstate="firing", instance="a"), 1.0)
        ]


RECORD, READER = "{record: r, expr: m}", "{alert: Reader, expr: r > 0}"


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(group("{record: q, expr: m}", RECORD, READER), id="a rule before them"),
        pytest.param(group(READER, RECORD), id="the other way round"),
        pytest.param((*group(READER), *group(RECORD, name="other")), id="in another group"),
        pytest.param(group(READER, "{record: r, expr: m * 2}"), id="another expression"),
    ],
)
def test_what_reads_a_recorded_series_finds_it_through_a_reload(after: Sequence[RuleGroup]) -> None:
    life = lived(group(RECORD, READER), 2)
    life.reload(after, MINUTE + 1)
    assert [(alert.starts_at, alert.ends_at) for alert in go_on(life, 2)] == [(0, None)]


def test_after_a_restart_too_though_a_rule_was_added_before_it(tmp_path: Path) -> None:
    before = lived(group(RECORD), 2)
    snapshot.save(before.window, 0, tmp_path / "window")
    after = Life(group("{record: q, expr: m}", READER, RECORD))
    snapshot.load(after.window, 0, tmp_path / "window", after.manager.owners)
    assert [alert.starts_at for alert in go_on(after, 2)] == [2 * MINUTE]
    go_on(after, 3)
    assert [value for _, value in after.answer("count_over_time(r[4m])", 3 * MINUTE)] == [4.0]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(group(IDLE), id="the rule is gone"),
        pytest.param(group("{alert: A, expr: m, for: 3m, labels: {severity: page}}"), id="it has another label"),
    ],
)
def test_the_series_of_a_rule_that_is_gone_end_at_the_reload(after: Sequence[RuleGroup]) -> None:
    life = lived(group(A, RECORD), 4)
    life.reload(after, 3 * MINUTE + 1)
    for name in ("ALERTS", "ALERTS_FOR_STATE", "r"):
        assert len(life.answer(name, 3 * MINUTE)) == 1
        assert life.answer(name, 3 * MINUTE + 1) == []


def test_a_firing_alert_whose_rule_is_gone_is_told_as_over_at_once_and_for_fifteen_minutes() -> None:
    life = lived(group(A), 4)
    at = 3 * MINUTE + 1
    (over,) = life.reload(group(IDLE), at)
    assert (over.name, over.starts_at, over.ends_at) == ("A", 3 * MINUTE, at)
    assert [alert.ends_at for alert in go_on(life, 18)] == [at]
    assert go_on(life, 19) == []


def test_a_second_reload_forgets_nothing_of_it() -> None:
    life = lived(group(A), 4)
    life.reload(group(IDLE), 3 * MINUTE + 1)
    (over,) = life.reload(group(IDLE), 3 * MINUTE + 2)
    assert over.ends_at == 3 * MINUTE + 1


def test_a_pending_alert_whose_rule_is_gone_is_nobodys_news() -> None:
    life = lived(group(A), 2)
    assert life.reload(group(IDLE), MINUTE + 1) == []
    assert go_on(life, 2) == []


def test_two_rules_of_one_name_and_labels_keep_their_own_alerts_in_their_order() -> None:
    two = ["{alert: A, expr: \"label_replace(m, 'n', '1', '', '')\"}", "{alert: A, expr: m, for: 9m}"]
    life = lived(group(*two), 2)
    life.reload(group(IDLE, *two), MINUTE + 1)
    assert states(life) == [AlertState.FIRING, AlertState.PENDING]
    assert [alert.starts_at for alert in go_on(life, 2)] == [0]


def test_raising_for_above_the_age_of_a_firing_alert_leaves_it_firing() -> None:
    # As Prometheus does up to 3.10. From 3.11 on the alert would be pending again, and its receivers never hear why.
    life = lived(group(A), 4)
    life.reload(group("{alert: A, expr: m, for: 1h}"), 3 * MINUTE + 1)
    assert [(alert.starts_at, alert.ends_at) for alert in go_on(life, 4)] == [(3 * MINUTE, None)]


def test_lowering_for_below_the_age_of_a_pending_alert_lets_it_fire() -> None:
    life = lived(group(A), 2)
    life.reload(group("{alert: A, expr: m, for: 1m}"), MINUTE + 1)
    assert [alert.starts_at for alert in go_on(life, 2)] == [2 * MINUTE]


def test_a_resolved_alert_is_told_on_after_a_reload() -> None:
    life = Life(group("{alert: A, expr: m}"))
    life.play({Labels.of(__name__="m"): [1.0]}, 1)
    life.reload(group("{alert: A, expr: none}"), MINUTE)
    assert [alert.ends_at for alert in life.manager.evaluate(MINUTE)] == [MINUTE]
    life.reload(group(IDLE, "{alert: A, expr: none}"), 2 * MINUTE)
    assert [alert.ends_at for alert in life.manager.evaluate(2 * MINUTE)] == [MINUTE]


def test_a_reload_soon_after_a_restart_does_not_trust_absence_either() -> None:
    life = lived(group("{alert: A, expr: m}"), 1)
    restarted = Life(group("{alert: A, expr: none}"))
    restarted.manager.restore(life.manager.changes()[0], 0, MINUTE, trust_absence_from=5 * MINUTE)
    restarted.reload(group("{alert: A, expr: none}", IDLE), MINUTE + 1)
    assert [[alert.ends_at for alert in restarted.manager.evaluate(minute * MINUTE)] for minute in (2, 5)] == [
        [None],
        [5 * MINUTE],
    ]


def test_other_external_labels_make_other_alerts_and_the_old_ones_are_over() -> None:
    life = lived(group("{alert: A, expr: m}"), 1)
    life.context = Context(life.query, life.appender, Labels.of(cluster="new"))
    (over,) = life.reload(group("{alert: A, expr: m}"), 1)
    assert (over.labels, over.ends_at) == (Labels.of(alertname="A", instance="a"), 1)
    (alert,) = go_on(life, 1)
    assert (alert.labels.value("cluster"), alert.starts_at, alert.ends_at) == ("new", 0, None)


def test_a_group_is_evaluated_at_the_slots_of_its_own_interval_from_a_reload_on() -> None:
    life = lived(group("{alert: A, expr: m}"), 1)
    life.reload((*group("{alert: A, expr: m}", more="interval: 30s"), *group(IDLE, name="slow")), 1)
    assert life.manager.intervals == {30 * SECOND, MINUTE}
    assert [alert.name for alert in life.manager.evaluate(30 * SECOND, 30 * SECOND)] == ["A"]
    assert [one.last_evaluation for one in life.manager.groups] == [30 * SECOND, 0]
