from pathlib import Path

import pytest

from monitor.model.instant import MINUTE, SECOND
from monitor.rules.unittest.format import parse_unit_tests
from monitor.yamldoc.mistake import DocumentError
from tests.rules.rulefmt_checks import check_expr


def mistakes(text: str, path: str = "t.yaml") -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse_unit_tests(text, path, check_expr)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_all_mistakes_are_told_at_once_with_their_places() -> None:
    text = """\
evaluation_interval: 30
group_eval_order: [a, b, a]
rule_files: ["[a"]
tests:
  - name: one
    intervall: 1m
    input_series:
      - {series: 'x{a="1" b="2"}', values: "1 2 1x1.5"}
      - {values: "1"}
    alert_rule_test:
      - {eval_time: 1m}
  - promql_expr_test:
      - {expr: "a >> b", eval_time: -1m, exp_samples: [{labels: "x 5", value: "1"}]}
      - {eval_time: 1m, exp_samples: [{labels: x, histogram: "{{}}"}]}
"""
    assert mistakes(text) == [
        't.yaml:1:22: evaluation_interval: "30" is not a duration (write 30s, 5m, 1h30m)',
        "t.yaml:3:14: rule_files: [ is not closed in [a",
        't.yaml:6:5: test "one": unknown field "intervall" (did you mean "interval"?)',
        't.yaml:8:27: test "one", input_series 1: series: a "," or "}" is missing',
        't.yaml:8:49: test "one", input_series 1: values: "1x1.5" is no value (write 1, 1x3, 1+2x3, _, _x3 or stale)',
        't.yaml:9:9: test "one", input_series 2: "series" must be set',
        't.yaml:11:9: test "one", alert_rule_test 1: "alertname" must be set',
        "t.yaml:13:19: test 2, promql_expr_test 1: expr: unexpected >>",
        't.yaml:13:37: test 2, promql_expr_test 1: eval_time: "-1m" is not a duration (write 30s, 5m, 1h30m)',
        't.yaml:13:68: test 2, promql_expr_test 1: labels: "5" is too much',
        't.yaml:13:79: test 2, promql_expr_test 1: value: "1" is not a number (write 1, 1e3 or .inf, without quotes)',
        't.yaml:14:9: test 2, promql_expr_test 2: "expr" must be set',
        't.yaml:14:51: test 2, promql_expr_test 2: "histogram" is not supported: only float values are',
    ]


def test_a_group_is_ordered_once() -> None:
    assert mistakes("group_eval_order: [a, b, a]") == ['t.yaml:1:19: group_eval_order: "a" is given twice']


def test_a_line_break_would_hide_the_series_behind_it() -> None:
    series = "  - series: x\n    values: >\n      1 2\n"
    assert len(parse_unit_tests(f"tests:\n- input_series:\n{series}", "t.yaml", check_expr).tests[0].series) == 1
    told = mistakes(f"tests:\n- input_series:\n{series}  - {{series: y, values: '1'}}\n")
    assert told[0].startswith("t.yaml:5:7: test 1, input_series 1: values: a line break ends the notation")


def test_defaults_are_those_of_promtool() -> None:
    file = parse_unit_tests("tests: [{}, {interval: 10s}]", "t.yaml", check_expr)
    assert (file.evaluation_interval, file.fuzzy_compare) == (MINUTE, False)
    assert [(test.name, test.interval, test.start, test.duration) for test in file.tests] == [
        ("", MINUTE, 0, 0),
        ("", 10 * SECOND, 0, 0),
    ]


def test_a_series_that_is_given_twice_is_the_last_one() -> None:
    text = "tests: [{input_series: [{series: x, values: '1'}, {series: 'x{}', values: '2'}]}]"
    (test,) = parse_unit_tests(text, "t.yaml", check_expr).tests
    assert [list(series.samples(0, 1)) for series in test.series] == [[(0, 2.0)]]


@pytest.mark.parametrize(
    ("written", "start"),
    [
        ("1609459200", 1_609_459_200_000),
        ("1609459200.5", 1_609_459_200_500),
        ('"2021-01-01T00:00:00Z"', 1_609_459_200_000),
        ("2021-01-01T01:00:00.25+01:00", 1_609_459_200_250),
        ("-60", -60_000),
    ],
)
def test_time_0_may_be_any_time(written: str, start: int) -> None:
    (test,) = parse_unit_tests(f"tests: [{{start_timestamp: {written}}}]", "t.yaml", check_expr).tests
    assert test.start == start


@pytest.mark.parametrize("written", ["2021-01-01T00:00:00", "today", "[]", ".inf"])
def test_a_start_that_is_no_time_is_a_mistake(written: str) -> None:
    (told,) = mistakes(f"tests: [{{start_timestamp: {written}}}]")
    assert told.startswith("t.yaml:1:27: test 1: start_timestamp: ")


def test_a_pattern_without_files_is_a_warning_only(tmp_path: Path) -> None:
    file = parse_unit_tests("rule_files: [no*.yaml]", str(tmp_path / "t.yaml"), check_expr)
    assert [str(one) for one in file.warnings] == [
        f'{tmp_path}/t.yaml:1:14: warning: rule_files: "no*.yaml" matches no file'
    ]
