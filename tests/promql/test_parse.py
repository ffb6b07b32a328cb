import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import HOUR, MINUTE
from monitor.model.matcher import Matcher, MatchType, equal
from monitor.promql import ErrorKind, Plan, PromqlError, ValueType, parse
from tests.promql.storage import instant, stored


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("x", ValueType.VECTOR),
        ("rate(x[5m])", ValueType.VECTOR),
        ("x[5m]", ValueType.MATRIX),
        ("x[5m:1m]", ValueType.MATRIX),
        ("1 + 1", ValueType.SCALAR),
        ("-time()", ValueType.SCALAR),
        ('"text"', ValueType.STRING),
    ],
)
def test_a_plan_knows_its_type(text: str, type_: ValueType) -> None:
    assert parse(text).result_type is type_


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        pytest.param("1", 0, id="nothing-is-read"),
        pytest.param("x", 5 * MINUTE, id="the-lookback"),
        pytest.param("x offset 1h", HOUR + 5 * MINUTE, id="offset"),
        pytest.param("x offset -1h", 0, id="the-future"),
        pytest.param("rate(x[30m])", 30 * MINUTE, id="a-range-has-no-lookback"),
        pytest.param("rate(x[30m] offset 10m)", 40 * MINUTE, id="range-and-offset"),
        pytest.param("max_over_time(x[1h:1m])", HOUR + 5 * MINUTE, id="subquery-and-lookback"),
        pytest.param("max_over_time(rate(x[30m])[1h:1m] offset 5m)", HOUR + 35 * MINUTE, id="range-in-subquery"),
        pytest.param("x + rate(y[10m])", 10 * MINUTE, id="the-longest-counts"),
    ],
)
def test_a_plan_knows_how_far_back_it_reads(text: str, reach: int) -> None:
    assert parse(text).reach == reach


def test_selectors_are_listed_in_the_order_of_the_text() -> None:
    plan = parse('rate(x{a="b"}[5m]) / on(c) {__name__=~"y|z"} offset 1m @ 60')
    first, second = plan.selectors
    assert first.name == "x"
    assert first.matchers == (equal("__name__", "x"), equal("a", "b"))
    assert (first.range, first.offset, first.fixed) == (5 * MINUTE, 0, False)
    assert second.name is None
    assert second.matchers == (Matcher("__name__", MatchType.REGEX, "y|z"),)
    assert (second.range, second.offset, second.fixed) == (None, MINUTE, True)


def test_matchers_are_what_they_were_written_as() -> None:
    (selector,) = parse(r"""rate({"x", a!~'=~', b != "!~", "c.d" =~ `\Qe.f\E|\101`, g="{"}[5m])""").selectors
    assert selector.matchers == (
        equal("__name__", "x"),
        Matcher("a", MatchType.NOT_REGEX, "=~"),
        Matcher("b", MatchType.NOT_EQUAL, "!~"),
        Matcher("c.d", MatchType.REGEX, r"\Qe.f\E|\101"),
        equal("g", "{"),
    )
    assert [selector.matchers[3].matches(value) for value in ("e.f", "e-f", "A")] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000", 1000),
        ("1_0.5", 10.5),
        ("0x1F", 31),
        ("0x_f", 15),
        ("017", 15),
        ("0_7", 7),
        ("089", 89),
        ("0777777777777777777777777", 7.777777777777778e23),
        (".5e1_0", 5e9),
        ("0x7fffffffffffffff", 2**63),
        (".5", 0.5),
        ("1e3", 1000),
        ("1h30m", 5400),
        ("4294967296ms", 4294967.296),
        ("-inf", float("-inf")),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("1 - -1", 2),
        ("# a comment\n1 + # another\n1", 2),
        ("-7 % 3", -1),
        ("1 / 0", float("inf")),
    ],
)
def test_numbers_are_written_in_all_of_prometheus_forms(text: str, value: float) -> None:
    assert instant(stored(), text, 0) == {"scalar": value}


@pytest.mark.parametrize(
    "text",
    [
        "x{path=~`/\\d+`}",
        "x[300]",
        "sum_over_time(x[.5])",
        "x[+5m]",
        "x[5m # a comment\n]",
        "x offset -5m @ start()",
        "x @ -1",
        "sum",
        "by + offset",
        '{"a metric", "a.label"="b"}',
        "1.5 / on () group_left (a) x",
        "sum by (a,) (x)",
        'x{a="b",}',
        "{a!~'.*'}",
        "{a!~''}",
        "SUM(x) BY (a)",
    ],
)
def test_what_prometheus_takes_is_taken(text: str) -> None:
    assert isinstance(parse(text), Plan)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('x{a="b" or c="d"}', '1:9: "or" between label matchers is not PromQL'),
        ("1 +\n info(x)", "2:2: function info() is experimental in Prometheus 3 and not supported"),
        ("mad_over_time(x[5m])", "1:1: function mad_over_time() is experimental in Prometheus 3 and not supported"),
        ("limitk(2, x)", "1:1: limitk() is experimental in Prometheus 3 and not supported"),
        ("x + fill(1) y", "1:5: fill is experimental in Prometheus 3 and not supported"),
        ("x smoothed", '1:3: the modifier "smoothed" is experimental in Prometheus 3 and not supported'),
        ("x </ 1", '1:3: the operator "</" is for native histograms, which are not supported'),
        ("1e400", '1:1: bad number or duration syntax: "1e400"'),
        ("x[1__0]", '1:3: bad number or duration syntax: "1__0"'),
        ("1_0m", '1:1: bad number or duration syntax: "1_0m"'),
        ("0xffffffffffffffff", None),
        ("0x1e+1", '1:1: bad number or duration syntax: "0x1e+1"'),
        ("foo(x)", "1:1: unknown function with name 'foo'"),
        ("x[0]", "1:3: duration must be greater than 0"),
        ("x[5m:0]", "1:6: duration must be greater than 0"),
        ("x offset 1e99", "1:10: duration out of range"),
        ("x @ inf", "timestamp out of bounds for @ modifier: inf"),
        ("x @ 1e17", "1:5: timestamp out of bounds for @ modifier: 100000000000000000.000000"),
        ('"abc', "1:1: unterminated quoted string"),
        ("1 == 1", "comparisons between scalars must use BOOL modifier"),
        ("+x[5m]", "1:1: unary expression only allowed on expressions of type scalar or instant vector"),
        ("rate(+x[5m])", None),
        ("x and 1", None),
        ("x and on(a) group_left(b) y", None),
        ("x == on(a) group_left(a) y", None),
        ("1 + bool 2", None),
        ("1 + on(a) 2", None),
        ("rate(x)", None),
        ("-x[5m]", None),
        ("1[5m:]", None),
        ('x{__name__="y"}', None),
        ('{a=~".*"}', None),
        ('{a=""}', None),
        ('x{a=~"("}', None),
        ("x{a=~'(?=b)'}", "bad regular expression '(?=b)': invalid perl operator: (?="),
        ("x{a=~'b)|(c'}", "bad regular expression 'b)|(c': unexpected ): b)|(c"),
        (r"x{a=~'\\C'}", None),
        ("x =~ 'b'", None),
        ("x !~ y", None),
        ("{a!~'b', c=~'d*'}", None),
        ("sum(", None),
        ("", None),
        ("\0", None),
        ("\ud800", None),
        ("holt_winters(x[5m], 0.5, 0.5)", None),
        ("x offset 5m offset 5m", None),
    ],
)
def test_what_is_no_stable_promql_is_refused(text: str, message: str | None) -> None:
    with pytest.raises(PromqlError) as caught:
        parse(text)
    assert caught.value.kind is ErrorKind.BAD_DATA
    assert message is None or str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "x" + ")" * 10_000,
        "-" * 10_000 + "x",
        "x" + " + x" * 10_000,
        "abs(" * 10_000 + "x" + ")" * 10_000,
        "2" + "^2" * 10_000,
        "x" + "[5m:1m]" * 7_000,
        "x" + " or x" * 10_000,
        "x" * 100_000,
        "{" * 10_000,
    ],
)
def test_an_expression_that_would_overflow_the_parser_is_refused(text: str) -> None:
    with pytest.raises(PromqlError) as caught:
        parse(text)
    assert caught.value.kind is ErrorKind.BAD_DATA


@pytest.mark.parametrize(
    "text",
    [
        "(" * 140 + "x" + ")" * 140,
        "x" + " + x" * 140,
        "abs(" * 140 + "x" + ")" * 140,
        "x" + " or x" * 140,
    ],
)
def test_what_the_limits_allow_is_evaluated_on_a_small_stack(text: str) -> None:
    answers: list[dict[str, float]] = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: answers.append(instant(stored("x 1"), text, 0)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(answers) == 1


_TEXT = (
    "x sum( rate( ) ( [ ] { } , + - * / ^ == > bool on( by( without( group_left offset @ 5m 1 1e99 0x NaN inf "
    "start() end() x[5m] offset -1m "
    '"a" \'b\' `c\\d` ` " = != =~ !~ : and or unless atan2 label_replace( info( limitk( topk( '
    '# \\ \u2028 é 1_0 08 1.5h [5m:1m] [0] @-1 {a="b"or fill( smoothed x: : $ \0'
)
_PIECES = st.lists(st.sampled_from([*_TEXT.split(" "), "\n"]), max_size=12)


@given(st.one_of(st.text(), _PIECES.map(" ".join), _PIECES.map("".join)))
def test_parsing_gives_a_plan_or_our_error_whatever_the_text(text: str) -> None:
    try:
        outcome = parse(text).text
    except PromqlError as err:
        outcome = err.kind
    assert outcome in (text, ErrorKind.BAD_DATA)
