"""What slides along a series is what each of its ranges says by itself."""

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.labels import Labels
from monitor.promql import sliding
from monitor.promql.over_time import OVER_TIME
from monitor.promql.quantile import quantile
from monitor.promql.rows import Windows
from monitor.storage.column import Block

_FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300) | st.sampled_from(
    (0.0, 1.0, 2.0, 0.1, 5e-324, -3.0)
)
_LISTS = st.lists(_FINITE, max_size=20) | st.lists(st.integers(-9, 9).map(float), max_size=20)
_MOVES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12)


def _whole(
    slide: Callable[[Sequence[float], sliding.Spans], list[float | None] | None],
) -> Callable[[Sequence[float], sliding.Spans], list[float | None] | None]:
    """Return what leaves it to the exact one where there is anything but whole numbers."""
    exact = sliding.sums if slide is sliding.whole_sums else sliding.means
    return lambda values, spans: slide(values, spans) or exact(values, spans)


def _spans(moves: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    spans, start, end = [], 0, 0
    for forward, more in moves:
        start = min(start + forward, length)
        end = min(max(end, start) + more, length)
        spans.append((start, end))
    return spans


@given(_LISTS, _MOVES)
@pytest.mark.parametrize(
    ("name", "slide"),
    [
        ("sum_over_time", sliding.sums),
        ("avg_over_time", sliding.means),
        ("sum_over_time", _whole(sliding.whole_sums)),
        ("avg_over_time", _whole(sliding.whole_means)),
        ("max_over_time", sliding.short_greatest),
        ("min_over_time", sliding.short_least),
        ("max_over_time", sliding.greatest),
        ("min_over_time", sliding.least),
        ("count_over_time", sliding.counts),
        ("changes", sliding.changes),
        ("resets", sliding.resets),
        ("first_over_time", sliding.firsts),
        ("last_over_time", sliding.lasts),
    ],
)
def test_a_range_that_slides_says_the_same(
    name: str,
    slide: Callable[[Sequence[float], sliding.Spans], list[float | None] | None],
    values: list[float],
    moves: list[tuple[int, int]],
) -> None:
    spans = _spans(moves, len(values))
    found = slide(values, spans)
    expected = [OVER_TIME[name]((), values[start:end]) if start < end else None for start, end in spans]
    assert found is not None
    for one, other in zip(found, expected, strict=True):
        assert (one is None) is (other is None)
        if one is not None and other is not None:
            # A compensated sum may be off by a little of its largest part, an exact one is not.
            size = max([abs(value) for value in values], default=0.0)
            assert math.isclose(one, other, rel_tol=1e-15, abs_tol=size * 1e-30)


@given(st.lists(_FINITE, max_size=20), _MOVES, st.sampled_from((0.0, 0.2, 0.5, 0.9, 1.0)))
def test_a_quantile_that_slides_is_the_same(values: list[float], moves: list[tuple[int, int]], q: float) -> None:
    spans = _spans(moves, len(values))
    expected = [quantile(q, values[start:end]) if start < end else None for start, end in spans]
    found = sliding.quantiles(q, values, spans)
    assert found is not None
    assert [value if value is None else value + 0.0 for value in found] == expected


@pytest.mark.parametrize("slide", [sliding.sums, sliding.means, sliding.greatest, sliding.least])
def test_what_has_a_nan_among_it_does_not_slide(slide: Callable[[Sequence[float], sliding.Spans], object]) -> None:
    assert slide([1.0, math.nan], [(0, 2)]) is None


@given(
    st.integers(0, 50),
    st.sampled_from((5, 15, 60)),
    st.integers(0, 30),
    st.tuples(st.integers(0, 400), st.sampled_from((5, 15, 20, 60)), st.integers(1, 12)),
    st.sampled_from((5, 60, 90, 300)),
    st.sampled_from((0, 15, 60)),
)
def test_windows_over_regular_rows_are_those_that_are_counted(
    first: int, step: int, count: int, asked: tuple[int, int, int], length: int, offset: int
) -> None:
    block = Block()
    column = block.column(Labels.of(__name__="x"))
    for number in range(count):
        block.append(first + number * step, (column,), (float(number),))
    start, every, many = asked
    times = range(start, start + every * many, every)
    found = Windows(block, times, offset, length, blind=False)
    rows = [(found.first + begin, found.first + end) for begin, end in found.spans]
    expected = [
        [number for number in range(count) if at - offset - length < first + number * step <= at - offset]
        for at in times
    ]
    assert [list(range(*one)) for one in rows] == expected
