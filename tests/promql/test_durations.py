"""
Ranges, steps and offsets that are computed.

All but the offsets that are signed and in parentheses were asked of Prometheus 3.5 with `promql-duration-expr`; what is
newer there is what 3.14 does.
"""

import pytest

from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.promql import Engine, ErrorKind, PromqlError, parse
from tests.promql.storage import instant, stored


@pytest.mark.parametrize(
    ("text", "range_"),
    [
        ("5m + 1h", HOUR + 5 * MINUTE),
        ("1h/2", 30 * MINUTE),
        ("60*30", 30 * MINUTE),
        ("1h30m % 1h", 30 * MINUTE),
        ("-5m+35m", 30 * MINUTE),
        ("5m-1m-1m", 3 * MINUTE),
        ("5m--1m", 6 * MINUTE),
        ("1 + 2*3", 7 * SECOND),
        ("(1 + 2)*3", 9 * SECOND),
        ("24m+((1.5*2m)+2m)", 29 * MINUTE),
        ("2^3^2", 512 * SECOND),
        ("1m-2^2", 56 * SECOND),
        ("-2^2+1m", 56 * SECOND),
        ("(-2)^2", 4 * SECOND),
        ("2^-1", SECOND // 2),
        ("2^-1*4", 2 * SECOND),
        ("-(1m-2m)", MINUTE),
        ("-+-5m", 5 * MINUTE),
        ("+(5m)", 5 * MINUTE),
        ("017 + 0x10 + 1_0", 41 * SECOND),
        ("5m# a comment\n+1m", 6 * MINUTE),
        ("1ms * 1.6", 1),
        ("50d", 50 * 24 * HOUR),
        ("4294967296ms + 0", 2**32),
        ("4294967296ms", 2**32),
        ("1e9 * 9", 9 * 10**12),
    ],
)
def test_a_range_is_computed(text: str, range_: int) -> None:
    (selector,) = parse(f"x[{text}]").selectors
    assert selector.range == range_


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("x offset (5m)", 5 * MINUTE),
        ("x offset -(1m + 30s)", -90 * SECOND),
        ("x offset +(1m + 30s)", 90 * SECOND),
        ("x offset -(-(5m+1))", 301 * SECOND),
        ("x offset (100 + 2)", 102 * SECOND),
        ("x offset (-2 ^ 2)", -4 * SECOND),
        ("x offset - - 5m", 5 * MINUTE),
        ("x offset(1m*2)@60", 2 * MINUTE),
        ("x @ 60 offset (1m*2)", 2 * MINUTE),
        ("x @ end() offset(1m*2)", 2 * MINUTE),
        ("x[5m]offset(1m*2)", 2 * MINUTE),
        ("offset offset -(1m + 1)", -61 * SECOND),
        ("vector(1) and x offset(1m)and vector(1)", MINUTE),
        # Only parentheses without a sign go on with what stands behind them.
        ("x offset 5m + 1h", 5 * MINUTE),
        ("x offset -2 ^ 2", -2 * SECOND),
        ("x offset -(1m + 1s) * 2", -61 * SECOND),
        ("x offset (1m) * 2 + 1", 121 * SECOND),
        ("x offset (2) ^ 2", 4 * SECOND),
        ("x offset (1ms * -1.6)", -1),
        ("x offset (0 * 2)", 0),
    ],
)
def test_an_offset_is_computed(text: str, offset: int) -> None:
    (selector,) = parse(text).selectors
    assert selector.offset == offset


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("count_over_time(vector(1)[(2 * 5m) : 1m / 2])", 20),
        ("count_over_time(vector(1)[5m + 5m:])", 10),
        ("count_over_time(vector(1)[5m:+1m])", 5),
        ("count_over_time(vector(1)[5m:1ms / 2])", 5),
        ("count_over_time(vector(1)[10m : 30s + (((8 - 2) / 3 * 7s) % 4) + 28s] offset -(2 * 1m))", 10),
        ("x offset 1m + 2", 11),
        ("(x offset -2 * 1m)", 10 * 60),
        ("rate(x[2 * 2m + 1m])", 1 / 60),
        ("offset - (1m + 30s)", -85),
        ("sum by (offset) (x) + on () offset - (1m + 30s)", -75),
        ("x + on () group_left offset - (1m + 30s)", -75),
    ],
)
def test_what_is_computed_is_evaluated(query: str, value: float) -> None:
    window = stored("x 0 1 2 3 4 5 6 7 8 9 10 11 12", "offset 5 5 5 5 5 5 5 5 5 5 5")
    (found,) = instant(window, query, 10 * MINUTE).values()
    assert found == pytest.approx(value)


def test_a_range_below_a_millisecond_holds_nothing() -> None:
    assert instant(stored("x 1 2 3"), "count_over_time(x[1ms / 2])", MINUTE) == {}


def test_the_text_and_the_places_of_remarks_stay_those_that_are_written() -> None:
    text = "rate(x[1m + 1m]) + quantile_over_time(2, x[(1m) * 2] offset -(1m - 2m))"
    plan = parse(text)
    assert plan.text == text
    (warning,) = Engine(stored("x 1 2 3")).instant(plan, 2 * MINUTE).warnings
    assert warning.endswith("(1:39)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[-5m]", "1:3: duration must be greater than 0"),
        ("x[5m - 5m]", "1:3: duration must be greater than 0"),
        ("rate(x\n[5m * -1])", "2:2: duration must be greater than 0"),
        ("x[5m:1m - 1m]", "1:6: duration must be greater than 0"),
        ("x[5m / 0]", "1:6: division by zero"),
        ("x[5m / (1 - 1)]", "1:6: division by zero"),
        ("x offset (5m % 0)", "1:14: modulo by zero"),
        ("x[1e10 - 1e10]", "1:3: duration out of range"),
        ("x[10 ^ 400]", "1:3: duration out of range"),
        ("x[1e9 * 1e9]", "1:3: duration out of range"),
        ("x[(-1) ^ 0.5]", "1:3: duration out of range"),
        ("x offset (NaN)", "1:11: duration out of range"),
        ("x[]", '1:3: unexpected "]" in subquery or range selector, expected number, duration, step(), or range()'),
        ("x offset (1m +", "1:15: unexpected end of input in offset, expected number, duration, step(), or range()"),
        ("x[5m:*]", "1:6: unexpected <op:*> in subquery selector, expected number, duration, step(), or range()"),
        ("x[5m 1m]", '1:6: unexpected duration "1m" in subquery or range, expected ":" or "]"'),
        ("x[5m:1m 1]", '1:9: unexpected number "1" in subquery selector, expected "]"'),
        ("x offset ('5m')", "1:11: unexpected string '5m' in offset, expected number, duration, step(), or range()"),
        ("x offset (1m) + y", '1:17: unexpected "y" in offset, expected number, duration, step(), or range()'),
        ("x[5m > 1m]", '1:6: unexpected <op:>> in subquery or range, expected ":" or "]"'),
        ("x[step()]", "1:3: step() in a duration is experimental in Prometheus 3 and not supported"),
        ("x[1m + Range()]", "1:8: range() in a duration is experimental in Prometheus 3 and not supported"),
        ("x offset -min_of(1m, 2m)", "1:11: min_of() in a duration is experimental in Prometheus 3 and not supported"),
        ("x[2 * max_of(1m, 2m)]", "1:7: max_of() in a duration is experimental in Prometheus 3 and not supported"),
        ("x[1m + sum(y)]", None),
        ("x[1.5m]", None),
        ("x offset (1m * 2) offset 1m", None),
        ("sum(x) offset (1m * 2)", None),
        ("x[" + "(" * 200 + "1m" + ")" * 200 + "]", None),
        ("x[1" + "+1" * 200 + "]", None),
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused(text: str, message: str | None) -> None:
    with pytest.raises(PromqlError) as caught:
        parse(text)
    assert caught.value.kind is ErrorKind.BAD_DATA
    assert message is None or str(caught.value) == message
