"""What the rules of a file will read."""

import pytest

from monitor.embedded import reaches, wanted_names
from monitor.expressions import check_expr, expressions_of
from monitor.model.instant import HOUR, MINUTE
from monitor.model.labels import Labels
from monitor.rules.spec import AlertingRule, RecordingRule, Rule


def alerting(annotation: str) -> AlertingRule:
    return AlertingRule("A", "up == 0", annotations=Labels.of(description=annotation))


@pytest.mark.parametrize(
    ("rule", "names", "reach"),
    [
        pytest.param(RecordingRule("r", "a + b"), {"a", "b"}, 5 * MINUTE, id="a recording rule"),
        pytest.param(alerting("{{ $value }}"), {"up"}, 5 * MINUTE, id="a template without a query"),
        pytest.param(alerting('{{ query "rate(a[1h])" | len }}'), {"up", "a"}, HOUR, id="one with a query"),
        pytest.param(alerting("{{ query $labels.q | len }}"), None, 5 * MINUTE, id="a query that nobody can foresee"),
        pytest.param(alerting('{{ query "a +" | len }}'), None, 5 * MINUTE, id="a wrong query"),
    ],
)
def test_what_the_window_must_keep(rule: Rule, names: set[str] | None, reach: int) -> None:
    expressions = list(expressions_of(rule))
    assert wanted_names(expressions) == names
    assert max(reaches(expressions).values()) == reach


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        ("up == 0", ""),
        ("avg_over_time(up[30d]) < 1", ""),
        ("up offset 100y", "further back than 5w"),
        ("up[5m]", "this is a matrix"),
        ("up +", "invalid promql query"),
    ],
)
def test_a_rules_expression_is_judged_before_it_runs(expr: str, words: str) -> None:
    problem = check_expr(expr)
    assert words in problem.what if problem is not None else words == ""
