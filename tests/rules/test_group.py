"""Groups at work, with a query whose answers are written down."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import pytest

from monitor.model.instant import MINUTE
from monitor.model.labels import EMPTY, Labels
from monitor.rules.context import Context, Vector
from monitor.rules.errors import RuleError
from monitor.rules.group import Health
from monitor.rules.manager import Manager
from monitor.rules.spec import AlertingRule, RecordingRule, RuleGroup

A, B = Labels.of(__name__="x", instance="a"), Labels.of(__name__="x", instance="b")


@dataclass
class FakeQuery:
    """Answers each expression with what is in `answers`; an exception is raised."""

    answers: dict[str, Vector | RuleError] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, expr: str, at: int) -> Vector:
        self.asked.append((expr, at))
        answer = self.answers.get(expr, ())
        if isinstance(answer, RuleError):
            raise answer
        return answer


@dataclass
class FakeAppender:
    """Keeps what was written, by instant."""

    written: list[tuple[int, str, float]] = field(default_factory=list)

    def append(self, owner: Hashable, at: int, samples: Sequence[tuple[Labels, float]]) -> None:
        assert owner
        self.written += [(at, str(labels), value) for labels, value in samples]


@dataclass
class Bench:
    """One group at work."""

    rules: Sequence[AlertingRule | RecordingRule]
    limit: int = 0
    query_offset: int | None = None
    query: FakeQuery = field(default_factory=FakeQuery)
    appender: FakeAppender = field(default_factory=FakeAppender)

    def __post_init__(self) -> None:
        self.context = Context(self.query, self.appender, Labels.of(cluster="c1"), "http://monitor")
        self.manager = self.build(self.rules)

    def build(self, rules: Sequence[AlertingRule | RecordingRule]) -> Manager:
        spec = RuleGroup("g", "f", None, self.query_offset, self.limit, EMPTY, tuple(rules))
        return Manager([spec], self.context, MINUTE, lambda: 0.0)

    def evaluate(self, minute: int) -> list[str]:
        """Return what dispatch hears of: the instance of each alert, in capitals when it has resolved."""
        alerts = self.manager.evaluate(minute * MINUTE)
        return [
            one.labels.value("instance").upper() if one.ends_at is not None else one.labels.value("instance")
            for one in alerts
        ]

    @property
    def health(self) -> list[tuple[Health, str]]:
        return [(verdict.health, verdict.error) for verdict in self.manager.groups[0].verdicts]


DOWN = AlertingRule("Down", "x == 0")


def test_an_alert_carries_its_labels_its_texts_and_its_dates() -> None:
    rule = AlertingRule(
        "Down",
        "x == 0",
        for_=MINUTE,
        labels=Labels.of(severity="critical", cluster="own"),
        annotations=Labels.of(summary="{{ $labels.instance }} is at {{ $value }}"),
    )
    bench = Bench([rule])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    assert bench.evaluate(1) == []
    (alert,) = bench.manager.evaluate(2 * MINUTE)
    assert alert.labels == Labels.of(alertname="Down", instance="a", severity="critical", cluster="own")
    assert alert.annotations == Labels.of(summary="a is at 0")
    assert (alert.active_at, alert.starts_at, alert.ends_at) == (MINUTE, 2 * MINUTE, None)
    assert alert.generator_url == "http://monitor/graph?g0.expr=x+%3D%3D+0&g0.tab=1"


def test_external_labels_are_added_where_absent() -> None:
    bench = Bench([DOWN])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    (alert,) = bench.manager.evaluate(MINUTE)
    assert alert.labels.value("cluster") == "c1"


def test_active_alerts_are_series() -> None:
    bench = Bench([AlertingRule("Down", "x == 0", for_=MINUTE)])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    bench.evaluate(1)
    bench.evaluate(2)
    bench.query.answers["x == 0"] = []
    bench.evaluate(3)
    assert bench.appender.written == [
        (MINUTE, 'ALERTS{alertname="Down", alertstate="pending", instance="a"}', 1.0),
        (MINUTE, 'ALERTS_FOR_STATE{alertname="Down", instance="a"}', 60.0),
        (2 * MINUTE, 'ALERTS{alertname="Down", alertstate="firing", instance="a"}', 1.0),
        (2 * MINUTE, 'ALERTS_FOR_STATE{alertname="Down", instance="a"}', 60.0),
    ]


def test_a_failed_query_changes_no_state_tells_nobody_and_stops_no_other_rule() -> None:
    bench = Bench([DOWN, AlertingRule("Other", "y")])
    bench.query.answers = {"x == 0": [(A, 0.0)], "y": [(B, 1.0)]}
    assert bench.evaluate(1) == ["a", "b"]
    bench.query.answers["x == 0"] = RuleError("boom")
    written = len(bench.appender.written)
    assert bench.evaluate(2) == ["b"]
    assert bench.health == [(Health.ERR, "boom"), (Health.OK, "")]
    assert not [one for one in bench.appender.written[written:] if '"Down"' in one[1]]
    bench.query.answers["x == 0"] = [(A, 0.0)]
    (alert, _) = bench.manager.evaluate(3 * MINUTE)
    assert alert.starts_at == MINUTE


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(AlertingRule("Down", "x == 0", labels=Labels((("instance", ""),))), id="alert"),
        pytest.param(RecordingRule("y", "x == 0", labels=Labels((("instance", ""),))), id="record"),
    ],
)
def test_two_elements_that_become_one_are_an_error_of_the_rule(rule: AlertingRule | RecordingRule) -> None:
    bench = Bench([rule])
    bench.query.answers["x == 0"] = [(A, 0.0), (B, 0.0)]
    assert bench.evaluate(1) == []
    ((health, error),) = bench.health
    assert health is Health.ERR
    assert "same labelset" in error


def test_a_rule_above_the_limit_is_an_error_and_clears_its_alerts() -> None:
    bench = Bench([DOWN], limit=1)
    bench.query.answers["x == 0"] = [(A, 0.0)]
    assert bench.evaluate(1) == ["a"]
    bench.query.answers["x == 0"] = [(A, 0.0), (B, 0.0)]
    assert bench.evaluate(2) == []
    assert bench.health == [(Health.ERR, "exceeded limit of 1 with 2 alerts")]
    assert bench.manager.groups[0].alerting[0].active == {}


def test_a_recording_rule_renames_and_relabels() -> None:
    bench = Bench([RecordingRule("level:x:sum", "sum(x)", Labels.of(team="llm"))])
    bench.query.answers["sum(x)"] = [(A, 5.0)]
    bench.evaluate(1)
    assert bench.appender.written == [(MINUTE, 'level:x:sum{instance="a", team="llm"}', 5.0)]


def test_queries_and_samples_are_shifted_by_the_query_offset_and_the_alerts_dates_are_not() -> None:
    bench = Bench([DOWN], query_offset=10_000)
    bench.query.answers["x == 0"] = [(A, 0.0)]
    (alert,) = bench.manager.evaluate(MINUTE)
    assert bench.query.asked == [("x == 0", 50_000)]
    assert {at for at, _, _ in bench.appender.written} == {50_000}
    assert alert.starts_at == MINUTE


def test_a_resolved_alert_is_told_for_fifteen_minutes() -> None:
    bench = Bench([DOWN])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    bench.evaluate(1)
    bench.query.answers["x == 0"] = []
    assert [bench.evaluate(minute) for minute in (2, 17, 18)] == [["A"], ["A"], []]


def test_a_reload_carries_the_alerts_over_even_when_the_expression_changed() -> None:
    bench = Bench([AlertingRule("Down", "x == 0", for_=2 * MINUTE)])
    bench.query.answers = {"x == 0": [(A, 0.0)], "x < 1": [(A, 0.0)]}
    bench.evaluate(1)
    bench.evaluate(2)
    new = bench.build([AlertingRule("Down", "x < 1", for_=2 * MINUTE)])
    assert new.take_over(bench.manager, 2 * MINUTE) == []
    (alert,) = new.evaluate(3 * MINUTE)
    assert (alert.active_at, alert.starts_at) == (MINUTE, 3 * MINUTE)


def test_a_reload_resolves_the_alerts_of_rules_that_are_gone() -> None:
    bench = Bench([DOWN])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    bench.evaluate(1)
    (over,) = bench.build([AlertingRule("Other", "y")]).take_over(bench.manager, 2 * MINUTE)
    assert (over.name, over.starts_at, over.ends_at) == ("Down", MINUTE, 2 * MINUTE)


def test_a_time_in_which_nobody_looked_does_not_count_towards_for() -> None:
    bench = Bench([AlertingRule("Slow", "x", for_=3 * MINUTE)])
    bench.query.answers["x"] = [(A, 1.0)]
    told = {minute: bench.evaluate(minute) for minute in (1, 2, 60, 61, 62)}
    assert told == {1: [], 2: [], 60: [], 61: ["a"], 62: ["a"]}


def test_after_a_time_in_which_nobody_looked_absence_proves_nothing_for_five_minutes() -> None:
    bench = Bench([DOWN])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    bench.evaluate(1)
    bench.query.answers["x == 0"] = []
    told = {minute: bench.evaluate(minute) for minute in (60, 61, 64, 65)}
    assert told == {60: ["a"], 61: ["a"], 64: ["a"], 65: ["A"]}


def test_when_the_clock_is_set_everything_moves_along() -> None:
    bench = Bench([AlertingRule("Slow", "x", for_=3 * MINUTE)])
    bench.query.answers["x"] = [(A, 1.0)]
    bench.evaluate(100)
    bench.evaluate(101)
    bench.manager.shift(-60 * MINUTE)
    assert [bench.evaluate(minute) for minute in (42, 43)] == [[], ["a"]]
    assert bench.manager.groups[0].verdicts[0].at == 43 * MINUTE


@pytest.mark.parametrize("rule", [DOWN, RecordingRule("y", "x == 0")], ids=["alert", "record"])
def test_a_limit_that_is_not_above_zero_is_none(rule: AlertingRule | RecordingRule) -> None:
    bench = Bench([rule], limit=-1)
    bench.query.answers["x == 0"] = [(A, 0.0), (B, 0.0)]
    bench.evaluate(1)
    assert bench.health == [(Health.OK, "")]


def test_the_series_that_tells_since_when_an_alert_stands_is_in_whole_seconds() -> None:
    bench = Bench([DOWN])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    bench.manager.evaluate(MINUTE + 999)
    assert bench.appender.written[1] == (60_999, 'ALERTS_FOR_STATE{alertname="Down", instance="a"}', 60.0)


def test_a_template_that_fails_says_which_alert_it_belongs_to_and_the_alert_fires() -> None:
    bench = Bench([AlertingRule("Down", "x == 0", annotations=Labels.of(summary="{{ query `none` | first | value }}"))])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    (alert,) = bench.manager.evaluate(MINUTE)
    told = alert.annotations.value("summary")
    assert told.startswith(
        "<error expanding template: error executing template __alert_Down: template: __alert_Down:1:"
    )


def test_the_series_of_an_alert_lie_over_the_labels_of_its_rule_as_the_file_has_them() -> None:
    bench = Bench([AlertingRule("Down", "x == 0", labels=Labels.of(many="{{ if gt $value 9.0 }}yes{{ end }}"))])
    bench.query.answers["x == 0"] = [(A, 0.0)]
    (alert,) = bench.manager.evaluate(MINUTE)
    assert alert.labels.value("many") == ""
    assert [series for _, series, _ in bench.appender.written] == [
        'ALERTS{alertname="Down", alertstate="firing", instance="a", many="{{ if gt $value 9.0 }}yes{{ end }}"}',
        'ALERTS_FOR_STATE{alertname="Down", instance="a", many="{{ if gt $value 9.0 }}yes{{ end }}"}',
    ]


def test_alerts_that_differ_in_alertstate_only_are_one_series() -> None:
    bench = Bench([AlertingRule("Many", "count by (alertstate) (ALERTS)")])
    bench.query.answers["count by (alertstate) (ALERTS)"] = [
        (Labels.of(alertstate="pending"), 1.0),
        (Labels.of(alertstate="firing"), 2.0),
    ]
    assert len(bench.manager.evaluate(MINUTE)) == 2
    assert [series for _, series, _ in bench.appender.written] == [
        'ALERTS{alertname="Many", alertstate="firing"}',
        'ALERTS_FOR_STATE{alertname="Many", alertstate="pending"}',
        'ALERTS_FOR_STATE{alertname="Many", alertstate="firing"}',
    ]
