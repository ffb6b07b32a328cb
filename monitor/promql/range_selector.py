"""Range selectors: `x[5m]`."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import compress

from monitor.model.instant import Duration, Instant
from monitor.model.sample import is_stale
from monitor.promql.node import MatrixNode
from monitor.promql.run import Run
from monitor.promql.selector import Selection, Shift
from monitor.promql.vector import NO_POINTS, Matrix, Points
from monitor.storage.column import Block, Column


class RangeSelector(MatrixNode):
    """The samples of each series in `(t - range, t]`, without stale markers."""

    __slots__ = ("range", "selection", "shift")

    def __init__(self, selection: Selection, shift: Shift, range_: Duration) -> None:
        super().__init__()
        self.selection = selection
        self.shift = shift
        self.range = range_
        self.moving = not shift.fixed

    def matrix(self, run: Run, at: Instant) -> Matrix:
        selected = self.selection.of(run)
        until = self.shift.apply(run, at)
        after = until - self.range
        points: list[Points] = []
        for block, columns in selected.blocks:
            points += block_points(block, columns, after, until)
        run.touch(sum([len(values) for _, values in points]))
        return Matrix(selected.series, points, after, until)


def block_points(block: Block, columns: Sequence[Column], after: Instant, until: Instant) -> list[Points]:
    """Return the samples of each column in `(after, until]`."""
    times, base = block.view
    start, end = bisect_right(times, after) + base, bisect_right(times, until) + base
    if start == end:
        return [NO_POINTS] * len(columns)
    shared = times[start - base : end - base]
    found: list[Points] = []
    for column in columns:
        gaps = column.gaps
        values, first = column.view
        if first <= start and end - first <= len(values) and (not gaps or gaps[-1] < start):
            found.append((shared, values[start - first : end - first]))
        else:
            found.append(_pick(shared, start, values, first))
    return found


def _pick(times: Sequence[Instant], start: int, values: "array[float]", first: int) -> Points:
    """Return the samples of a column that is not there in every row: `times` are those of the rows from `start` on."""
    missing = max(first - start, 0)
    there = values[max(start - first, 0) : max(start + len(times) - first, 0)]
    at = times[missing : missing + len(there)]
    real = [not is_stale(value) for value in there]
    if all(real):
        return at, there
    return list(compress(at, real)), list(compress(there, real))
