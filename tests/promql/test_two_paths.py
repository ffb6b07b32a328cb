"""
What is read from columns in the fast way is what a plain list of the same samples says.

The columns of one block: two counters and a gauge, with resets, gaps, NaN and infinities, some of them late, and what
is old pruned away while they are written.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.promql import Engine, Vector, parse
from monitor.promql.over_time import OVER_TIME
from monitor.promql.range_selector import block_points
from monitor.promql.rate import DELTA, INCREASE, RATE, Kind, block_changes, change
from monitor.promql.run import Run
from monitor.promql.selector import newest
from monitor.promql.vector import Points
from monitor.storage.column import Block, Column
from monitor.storage.window import Window

_SERIES = 3
_GAUGE = 2
# Most rows are there and most values are ordinary: else there is hardly a range that can be read the fast way.
_RARE: Sequence[float | None] = (None, math.nan, math.inf, -math.inf, -1.0)
_VALUES = st.integers(0, 60).map(lambda drawn: _RARE[drawn] if drawn < len(_RARE) else drawn % 13 / 10)


@dataclass(frozen=True)
class History:
    """Rows of values, the times between them, and after which row what is before which other is forgotten."""

    rows: Sequence[Sequence[float | None]]
    gaps: Sequence[int]
    pruned_after: int
    pruned_before: int

    @property
    def times(self) -> Sequence[Instant]:
        return [sum(self.gaps[: row + 1]) for row in range(len(self.rows))]

    def write(self, block: Block) -> Sequence[Column]:
        columns = [block.column(Labels.of(__name__="x_total", k=str(k)), counter=k != _GAUGE) for k in range(_SERIES)]
        for number, (at, row) in enumerate(zip(self.times, self.rows, strict=True)):
            there = [k for k in range(_SERIES) if row[k] is not None]
            block.append(at, [columns[k] for k in there], [value for value in row if value is not None])
            if number == self.pruned_after:
                block.prune(self.times[self.pruned_before])
        return columns

    def samples(self, series: int, after: Instant, until: Instant) -> Points:
        """Return what is left of one series in `(after, until]`."""
        kept = self.pruned_before if self.pruned_after < len(self.rows) else 0
        found = [
            (at, value)
            for at, row in list(zip(self.times, self.rows, strict=True))[kept:]
            if (value := row[series]) is not None and after < at <= until
        ]
        return [at for at, _ in found], [value for _, value in found]


Drawn = tuple[History, tuple[Instant, Instant]]


@st.composite
def _histories(draw: st.DrawFn) -> Drawn:
    """Draw a history, and a range that starts and ends at some of its rows, or a moment later or earlier."""
    rows = draw(st.lists(st.tuples(*[_VALUES] * _SERIES), min_size=4, max_size=12))
    late = draw(st.integers(0, 3))
    rows = [(*row[:1], None, *row[2:]) if number < late else row for number, row in enumerate(rows)]
    gaps = draw(st.lists(st.sampled_from((1, 1000, 1000, 7000)), min_size=len(rows), max_size=len(rows)))
    after = draw(st.integers(0, 2 * len(rows)))
    history = History(rows, gaps, after, draw(st.integers(0, min(after, len(rows) - 1))))
    first, last = sorted(draw(st.tuples(*[st.integers(0, len(rows) - 1)] * 2)))
    moments = st.sampled_from((-1, 0, 0, 1, 500))
    start, end = history.times[first] + draw(moments), history.times[last] + draw(moments)
    return history, (start, max(start + 1, end))


@given(_histories(), st.sampled_from((RATE, INCREASE, DELTA)))
@settings(max_examples=400)
def test_a_change_by_two_ends_and_resets_is_that_of_all_samples(drawn: Drawn, kind: Kind) -> None:
    history, range_ = drawn
    block = Block()
    columns = history.write(block)
    found = block_changes(Run(Window(), start=0, end=0, step=0), kind, block, columns, range_)
    expected = [change(kind, history.samples(k, *range_), *range_) for k in range(_SERIES)]
    assert list(map(repr, found)) == list(map(repr, expected))


@given(_histories())
@settings(max_examples=400)
def test_a_range_and_its_newest_sample_are_those_that_were_written(drawn: Drawn) -> None:
    history, range_ = drawn
    block = Block()
    columns = history.write(block)
    expected = [history.samples(k, *range_) for k in range(_SERIES)]
    found = [(list(times), list(values)) for times, values in block_points(block, columns, *range_)]
    assert repr(found) == repr(expected)
    # A row in which a series is missing has a marker: nothing before it is its newest sample.
    (last,) = [at for at in history.times if at <= range_[1]][-1:] or (None,)
    present = [values[-1] if times and times[-1] == last else None for times, values in expected]
    assert repr(newest(block, columns, *range_)) == repr(present)


@given(st.sampled_from(sorted(OVER_TIME)), _histories())
def test_a_function_over_time_is_that_of_the_samples_that_were_written(name: str, drawn: Drawn) -> None:
    history, (after, until) = drawn
    window = Window()
    history.write(window.block("target"))
    value = Engine(window).instant(parse(f"{name}(x_total[{until - after}ms])"), until).value
    assert isinstance(value, Vector)
    found = {labels.value("k"): repr(one) for labels, one in value}
    expected = {
        str(k): OVER_TIME[name](*points) for k in range(_SERIES) if (points := history.samples(k, after, until))[1]
    }
    assert found == {k: repr(one) for k, one in expected.items() if one is not None}
