"""Series notation. What is taken and refused here was asked of promtool 2.42 and 3.5.3; the corpus asks them again."""

import math
from itertools import islice

import pytest

from monitor.model.sample import is_stale
from monitor.rules.unittest.errors import NotationError
from monitor.rules.unittest.notation import expanded, parse_values


def read(text: str) -> list[float | str | None]:
    """Return the values, with words for those that are equal to nothing."""
    return [_word(value) for value in islice(expanded(parse_values(text)), 20)]


def _word(value: float | None) -> float | str | None:
    if value is None or not math.isnan(value):
        return value
    return "stale" if is_stale(value) else "nan"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        (" 1  2\t3\r\n", [1, 2, 3]),
        ("1x3", [1, 1, 1, 1]),
        ("1+2x3", [1, 3, 5, 7]),
        ("1-2x3", [1, -1, -3, -5]),
        ("-1-2x1 +1+2x1", [-1, -3, 1, 3]),
        ("1x0 2+5x0", [1, 2]),
        ("1 +2x1", [1, 2, 2]),
        ("_ 1 _x3 2 _x0 3", [None, 1, None, None, None, 2, 3]),
        ("1 stale 2", [1, "stale", 2]),
        # The sum is no marker any more.
        ("stale+1x1", ["stale", "nan"]),
        ("NaN nan -NAN Inf +inf -INF", ["nan", "nan", "nan", math.inf, math.inf, -math.inf]),
        ("NaN+0x1 Inf-1x1", ["nan", "nan", math.inf, math.inf]),
        ("1e3 1E-2 1.5e+2x1 .5 5.", [1000, 0.01, 150, 150, 0.5, 5]),
        # An integer is read with its base: octal where it can be. 0x2 is zero, repeated.
        ("010 08 010.5 1_000 0_7 0x2", [8, 8, 10.5, 1000, 7, 0, 0, 0]),
        ("99999999999999999999999", [1e23]),
        # Added again and again, with the error that has.
        ("0.1+0.1x2", [0.1, 0.2, 0.30000000000000004]),
    ],
)
def test_values_are_written_in_short(text: str, values: list[float | str | None]) -> None:
    assert read(text) == values


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("1 2,3", 3, '"2,3" is no value'),
        ("1 + 2x3", 3, '"+" is no value'),
        ("1+2", 1, '"1+2" is no value'),
        ("1x", 1, '"1x" is no value'),
        ("x3", 1, '"x3" is no value'),
        ("1x1.5", 1, '"1x1.5" is no value'),
        ("1h", 1, '"1h" is no value'),
        ("0x1F", 1, '"0x1F" is no value'),
        ("1+Infx2", 1, '"1+Infx2" is no value'),
        ("STALE", 1, '"STALE" is no value'),
        ("1 stalex2", 3, "stale cannot be repeated with x"),
        ("  -NaNx2", 3, "x cannot follow -NaN, write -NaN+0x…"),
        ("1__2", 1, '"1__2" is no number'),
        ("1_0.5", 1, '"1_0.5" is no number'),
        ("1 1e999", 3, '"1e999" is too large a number'),
        ("1x99999999999999999999", 1, "is too large a number of repetitions"),
        ("{{schema:0 sum:1}}x2", 1, "native histograms ({{…}}) are not supported"),
    ],
)
def test_what_is_no_value_is_told_with_its_column(text: str, column: int, what: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_values(text)
    assert what in str(caught.value)
    assert caught.value.column == column


def test_a_repetition_takes_no_room() -> None:
    runs = parse_values("1x9999999999999999")
    assert len(runs) == 1
    assert list(islice(expanded(runs), 2)) == [1, 1]
