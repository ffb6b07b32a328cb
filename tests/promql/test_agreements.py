"""
What random expressions once answered differently here and in Prometheus 3, and what is easily got wrong.

Every expectation was asked of Prometheus 3.5.3, but for those marked as newer.
"""

import math

import pytest

from monitor.model.instant import MINUTE
from monitor.promql import Engine, PromqlError, parse
from tests.promql.storage import instant, ranged, stored

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("line", "query", "value"),
    [
        pytest.param("x NaN", "clamp_max(x, -Inf)", -INF, id="an-infinite-bound-is-stronger-than-nan"),
        pytest.param("x NaN", "clamp_min(x, Inf)", INF, id="on-its-own-side"),
        pytest.param("x NaN", "clamp_max(x, Inf)", NAN, id="and-not-on-the-other"),
        pytest.param("x -Inf", "clamp_max(x, NaN)", -INF, id="as-is-an-infinite-value"),
        pytest.param("x 1", "clamp(x, NaN, 2)", NAN, id="a-bound-of-nan-is-nan"),
        pytest.param("x 1e300", "year(x)", 292277026596, id="a-time-no-int64-holds"),
        pytest.param("x 1e300", "day_of_month(x)", 4, id="wraps-round"),
        pytest.param("x 2.5", "log2(x)", 1.3219280948873622, id="logarithms-as-go-computes-them"),
        pytest.param("x 8", "log2(x)", 3, id="exact-at-powers-of-two"),
        pytest.param("x 1000", "log10(x)", 3, id="and-at-powers-of-ten"),
        pytest.param("x 99", "log10(x)", 1.99563519459755, id="rounded-as-there"),
        pytest.param("x -0.5", "ceil(x)", -0.0, id="a-zero-keeps-the-sign"),
        pytest.param("x -2.5", "round(x)", -2, id="ties-go-up"),
        pytest.param("x 13.7", "round(x, 5)", 15, id="to-a-multiple"),
        pytest.param("x NaN", "sgn(x)", NAN, id="the-sign-of-nan"),
        pytest.param("x -8", "x ^ (1/3)", NAN, id="a-root-of-a-negative"),
        pytest.param("x -0", "x ^ -1", -INF, id="a-power-of-a-negative-zero"),
        pytest.param("x -7", "x % 3", -1, id="the-sign-of-the-dividend"),
        pytest.param("x Inf", "x % 3", NAN, id="no-remainder-of-infinity"),
        pytest.param("x 0", "x / 0", NAN, id="zero-by-zero"),
        pytest.param("x -1", "x / 0", -INF, id="a-division-by-zero"),
        pytest.param("x 3 3 3", "deriv(x[5m])", 0, id="a-constant-has-no-slope"),
        pytest.param("x Inf Inf", "deriv(x[5m])", NAN, id="but-an-infinite-one"),
        pytest.param("x NaN NaN 1 2 2 NaN", "changes(x[10m])", 3, id="nan-after-nan-is-no-change"),
        pytest.param("x NaN 3 1", "max_over_time(x[10m])", 3, id="nan-is-no-maximum"),
        pytest.param("x NaN NaN", "min_over_time(x[10m])", NAN, id="where-there-is-anything-else"),
        pytest.param("x 1 NaN 3", "quantile_over_time(0, x[10m])", NAN, id="nan-sorts-first"),
        pytest.param("x 5 3", "irate(x[10m])", 3 / 60, id="irate-after-a-reset"),
    ],
)
def test_a_value_is_what_prometheus_computes(line: str, query: str, value: float) -> None:
    (found,) = instant(stored(line), query, (len(line.split()) - 2) * MINUTE).values()
    assert repr(found) == repr(float(value))


def test_histograms_answer_what_prometheus_answers() -> None:
    window = stored('b{le="1"} 2', 'b{le="1.0"} 2', 'b{le="2"} 6', 'b{le="+Inf"} 8', 'odd{le="1"} 5', 'odd{le="x"} 9')
    assert instant(window, "histogram_quantile(0.5, b)", 0) == {"{}": 1.0}
    assert instant(window, "histogram_quantile(0.99, b)", 0) == {"{}": 2.0}
    assert instant(window, "histogram_quantile(-1, b)", 0) == {"{}": -INF}
    assert instant(window, "histogram_fraction(1, 2, b)", 0) == {"{}": 0.25}
    # Newer than 3.5, which does not know where the first bucket starts.
    assert instant(window, "histogram_fraction(0.5, 2, b)", 0) == {"{}": 0.5}
    assert repr(instant(window, "histogram_quantile(0.5, odd)", 0)) == "{'{}': nan}"
    assert instant(window, "histogram_sum(b)", 0) == {}


@pytest.mark.parametrize(
    ("query", "warnings"),
    [
        ("histogram_quantile(2, (b))", ["quantile value should be between 0 and 1, got 2 (1:20)"]),
        ("histogram_quantile((2), b)", ["quantile value should be between 0 and 1, got 2 (1:20)"]),
        ("histogram_quantile((scalar(x)), b)", ["quantile value should be between 0 and 1, got 1e+06 (1:21)"]),
        ("quantile by (a) ((2), x)", ["quantile value should be between 0 and 1, got 2 (1:19)"]),
        ("quantile(NaN, nosuch)", ["quantile value should be between 0 and 1, got NaN (1:10)"]),
        ("quantile_over_time(100000, x[5m])", ["quantile value should be between 0 and 1, got 100000 (1:20)"]),
        ("quantile_over_time(-1e-7, x[5m])", ["quantile value should be between 0 and 1, got -1e-07 (1:20)"]),
        # The same remark about two places names the later one.
        ("quantile(2, x) + quantile(2, x)", ["quantile value should be between 0 and 1, got 2 (1:27)"]),
        (
            "histogram_quantile(0.5,\n (odd))",
            ['bucket label "le" is missing or has a malformed value of "x" for metric name "odd" (2:3)'],
        ),
        # Newer than 3.5, which tells of a name that is not there.
        ("histogram_quantile(0.5, sum(odd))", ['bucket label "le" is missing or has a malformed value of "" (1:25)']),
    ],
)
def test_remarks_say_what_is_doubtful_and_where(query: str, warnings: list[str]) -> None:
    window = stored('b{le="1"} 2', 'b{le="+Inf"} 8', 'odd{le="x"} 9', "x 1e6")
    assert Engine(window).instant(parse(query), 0).warnings == tuple(f"PromQL warning: {text}" for text in warnings)


def test_a_rate_of_a_subquery_is_remarked_at_the_first_place() -> None:
    result = Engine(stored("x 1 2 3")).instant(parse("1 + rate((x)[5m:1m])"), 2 * MINUTE)
    assert [text.rsplit(" ", 1)[1] for text in result.infos] == ["(1:1)"]


def test_of_many_remarks_ten_are_told() -> None:
    result = Engine(stored("x 1")).range(parse("quantile(2 + time(), x)"), 0, 12_000, 1000)
    assert len(result.warnings) == 11
    assert result.warnings[-1] == "3 more warning annotations omitted"


def test_sort_in_a_range_query_is_remarked() -> None:
    result = Engine(stored("x 1")).range(parse("sort(x)"), 0, 1000, 1000)
    assert result.warnings == (
        "PromQL warning: sort is ineffective for range queries since results are always ordered by labels (1:1)",
    )


def test_a_plus_makes_a_selector_an_expression() -> None:
    window = stored("x 1")
    assert instant(window, "timestamp(x)", MINUTE) == {"{}": 0}
    assert instant(window, "timestamp((x))", MINUTE) == {"{}": 0}
    assert instant(window, "timestamp(+x)", MINUTE) == {"{}": 60}
    assert instant(window, 'absent(y{a="b"})', MINUTE) == {'{a="b"}': 1}
    assert instant(window, 'absent(+y{a="b"})', MINUTE) == {"{}": 1}


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ('absent(x{a="b", c="d"})', '{a="b", c="d"}'),
        ('absent(x{a="b", a="c"})', "{}"),
        ('absent(x{a="b", a!="c"})', "{}"),
        ('absent(x{a=~"b", c="d"})', '{c="d"}'),
        ('absent({__name__="x", a="b"})', '{a="b"}'),
        ('absent(sum(x{a="b"}))', "{}"),
        ('absent_over_time(x{a="b"}[5m])', '{a="b"}'),
        ('absent_over_time(x{a="b"}[5m:1m])', "{}"),
    ],
)
def test_absence_is_labelled_by_what_was_looked_for(query: str, labels: str) -> None:
    assert instant(stored(), query, 0) == {labels: 1}


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("-{job='a'}", id="unary-minus"),
        pytest.param("{job='a'} * 1", id="arithmetic"),
        pytest.param("abs({job='a'})", id="function"),
        pytest.param("rate({job='a'}[5m])", id="range-function"),
        pytest.param("label_replace({job='a'}, '__name__', 'z', '', '')", id="relabelling"),
        pytest.param("{job='a'} + on(job) x", id="many-to-one"),
        pytest.param("x + on(job) {job='a'}", id="one-to-many"),
        # Newer than 3.5, which looks at what is left after the comparison.
        pytest.param("{job='a'} == on(job) x", id="many-to-one-though-filtered"),
        pytest.param("x + on(job) group_right(job) {job='a'}", id="join-onto-the-same"),
        pytest.param("label_replace(x, 'a', 'b', 'c', '(')", id="bad-regular-expression"),
        pytest.param("label_replace(x, '', 'b', 'c', 'd')", id="no-label-to-write"),
        pytest.param("count_values('', x)", id="no-label-to-count-in"),
        pytest.param("topk(NaN, x)", id="how-many-is-not-a-number"),
        pytest.param("topk(1e30, x)", id="how-many-is-no-integer"),
    ],
)
def test_what_the_data_does_not_allow_fails(query: str) -> None:
    window = stored('x{job="a"} 1 2', 'y{job="a"} 3 4')
    with pytest.raises(PromqlError):
        instant(window, query, MINUTE)


def test_series_that_become_one_are_merged_where_they_do_not_overlap() -> None:
    # Newer than 3.5, which fails here.
    window = stored('x{job="a"} 1 stale', 'y{job="a"} _ _ 3')
    assert ranged(window, "-{job='a'}", 0, 2 * MINUTE, MINUTE) == {'{job="a"}': {0: -1, 2 * MINUTE: -3}}


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        # Newer than 3.5.
        ("first_over_time(x[10m])", {'x{a="b"}': 2}),
        ("first_over_time(x[4m])", {'x{a="b"}': 3}),
        ("first_over_time(x[2m])", {'x{a="b"}': 7}),
        ("first_over_time(x[1m])", {}),
        ("first_over_time((x * 2)[4m:1m])", {'{a="b"}': 6}),
        ("last_over_time(x[10m]) - first_over_time(x[10m])", {'{a="b"}': 5}),
    ],
)
def test_the_first_of_a_range_is_its_oldest_sample_and_keeps_the_name(query: str, answer: dict[str, float]) -> None:
    assert instant(stored('x{a="b"} _ 2 stale 3 _ 7 stale'), query, 6 * MINUTE) == answer


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("$1-$2", "a-b"),
        ("${1}x", "ax"),
        ("$1x", None),
        ("$first", "a"),
        ("${first}$$", "a$"),
        ("$9", None),
        ("$", "$"),
        ("plain", "plain"),
        ("", None),
    ],
)
def test_a_replacement_is_expanded_as_go_does(template: str, value: str | None) -> None:
    found = instant(stored('x{l="a.b"} 1'), f'label_replace(x, "to", "{template}", "l", "(?P<first>.)[.](.)")', 0)
    assert list(found) == ['x{l="a.b"' + ("" if value is None else f', to="{value}"') + "}"]


def test_values_that_become_labels_are_written_in_full() -> None:
    window = stored('x{a="1"} 5e22', 'x{a="2"} 1e-7', 'x{a="3"} NaN', 'x{a="4"} -Inf')
    assert instant(window, 'count_values("v", x)', 0).keys() == {
        '{v="50000000000000000000000"}',
        '{v="0.0000001"}',
        '{v="NaN"}',
        '{v="-Inf"}',
    }


def test_the_best_of_each_group_keep_their_names_and_come_in_order() -> None:
    window = stored('x{g="1", i="a"} 1', 'x{g="1", i="b"} NaN', 'x{g="1", i="c"} 3', 'x{g="2", i="d"} 2')
    assert list(instant(window, "topk(2, x)", 0).values()) == [3, 2]
    assert list(instant(window, "bottomk by (g) (2, x)", 0).items()) == [
        ('x{g="1", i="a"}', 1),
        ('x{g="1", i="c"}', 3),
        ('x{g="2", i="d"}', 2),
    ]
    assert instant(window, "topk(0.9, x)", 0) == {}
    assert list(instant(window, "sort_desc(x)", 0).values())[:3] == [3, 2, 1]
    assert math.isnan(list(instant(window, "sort(x)", 0).values())[-1])
