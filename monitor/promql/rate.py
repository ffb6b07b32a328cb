"""
rate, increase and delta: the change over a range, extrapolated to its ends.

reference: Prometheus 3.5, promql/functions.go extrapolatedRate: the order of the operations is theirs.
Where a column notes its resets only the two ends of the range are read; `change` is the plain form of the same.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import sub

from monitor.model.instant import Instant
from monitor.promql.frame import Frame, Steps, Value, framed
from monitor.promql.lex import Position
from monitor.promql.memo import Memo
from monitor.promql.names import Unnamed
from monitor.promql.node import MatrixNode, VectorNode
from monitor.promql.range_selector import RangeSelector, block_points
from monitor.promql.rows import Windows
from monitor.promql.run import Run
from monitor.promql.selector import present
from monitor.promql.vector import Points, Series, Vector
from monitor.storage.column import Block, Column

_CLOSE = 1.1
_COUNTER_ENDINGS = ("_total", "_sum", "_count", "_bucket")


@dataclass(frozen=True, slots=True)
class Kind:
    """What sets rate, increase and delta apart."""

    counter: bool
    per_second: bool


RATE = Kind(counter=True, per_second=True)
INCREASE = Kind(counter=True, per_second=False)
DELTA = Kind(counter=False, per_second=False)


class Extrapolation:
    """From the change between the first and the last of `count` samples to the change over `(after, until]`."""

    __slots__ = ("_kind", "_seconds", "_tail", "interval", "to_start")

    def __init__(self, kind: Kind, after: Instant, until: Instant, ends: tuple[Instant, Instant], count: int) -> None:
        first, last = ends
        to_start, to_end = (first - after) / 1000, (until - last) / 1000
        self.interval = (last - first) / 1000
        average = self.interval / (count - 1)
        threshold = average * _CLOSE
        self.to_start = average / 2 if to_start >= threshold else to_start
        self._tail = average / 2 if to_end >= threshold else to_end
        self._seconds = (until - after) / 1000
        self._kind = kind

    def change(self, first: float, change: float) -> float:
        """Return the result for a series that starts at `first` and changes by `change`."""
        to_start, interval = self.to_start, self.interval
        if self._kind.counter and change > 0 and first >= 0:
            # A counter was never below zero: it is not extrapolated beyond the point where it would have been.
            to_zero = interval * (first / change)
            to_start = min(to_start, to_zero)
        return change * self.factor(to_start)

    def factor(self, to_start: float) -> float:
        """Return what the change between the samples is multiplied by, `to_start` seconds being added before them."""
        interval = self.interval
        factor = (interval + to_start + self._tail) / interval
        if self._kind.per_second:
            factor /= self._seconds
        return factor


def change(kind: Kind, points: Points, after: Instant, until: Instant) -> float | None:
    """Return the result of one series from all its samples in the range."""
    times, values = points
    if len(values) < 2:  # noqa: PLR2004 - a change needs two
        return None
    rise = values[-1] - values[0]
    if kind.counter:
        previous = values[0]
        for value in values:
            if value < previous:
                rise += previous
            previous = value
    return Extrapolation(kind, after, until, (times[0], times[-1]), len(values)).change(values[0], rise)


class Change(VectorNode):
    """A call of rate, increase or delta."""

    __slots__ = ("_gauges", "_kind", "_names", "_of", "_position")

    def __init__(self, kind: Kind, of: MatrixNode, position: Position) -> None:
        super().__init__(of)
        self._kind = kind
        self._of = of
        # Prometheus puts a selector without a place for a subquery.
        self._position = position if isinstance(of, RangeSelector) else (1, 1)
        self._names = Unnamed()
        self._gauges = Memo(not_counters)

    def vector(self, run: Run, at: Instant) -> Vector:
        found = self._changes(run, at)
        series = self._names.of(found.series)
        if self._kind.counter:
            for name in self._gauges.of(found.series):
                run.inform(
                    f'metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "{name}"',
                    self._position,
                )
        return Vector(series, found.values)

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, kind = self._of, self._kind
        if not isinstance(of, RangeSelector) or of.shift.fixed:
            return super().frame(run, steps)
        # Quantiles of one histogram ask for the same rates again and again.
        key = (kind, of.selection.matchers, of.shift.offset, of.range)
        return steps.once(key, partial(self._frame, run, of, steps))

    def _frame(self, run: Run, of: RangeSelector, steps: Steps) -> Frame:
        selected = of.selection.of(run)
        columns: list[list[Value]] = []
        for block, some in selected.blocks:
            key = (self._kind, block, of.shift.offset, of.range)
            along = steps.once(key, partial(self._along, of, steps, block))
            columns += [along.column(column) for column in some]
        found = framed(selected.series, columns)
        return self._names.frame(found.series, found.columns)

    def _along(self, of: RangeSelector, steps: Steps, block: Block) -> "Along":
        untils = [at - of.shift.offset for at in steps.times]
        bounds = [(until - of.range, until) for until in untils]
        return Along(self._kind, steps.windows(block, of.shift.offset, of.range), bounds)

    def _changes(self, run: Run, at: Instant) -> Vector:
        node, kind = self._of, self._kind
        if not isinstance(node, RangeSelector):
            matrix = node.matrix(run, at)
            changes = [change(kind, points, matrix.after, matrix.until) for points in matrix.points]
            return present(matrix.series, changes)
        selected = node.selection.of(run)
        until = node.shift.apply(run, at)
        changes = []
        for block, columns in selected.blocks:
            changes += block_changes(run, kind, block, columns, (until - node.range, until))
        return present(selected.series, changes)


Window = tuple[Instant, Instant]
# Some windows in a row that are extrapolated alike, from one place to another; None where there are too few samples.
Stretch = tuple[Extrapolation | None, int, int]


class Along:
    """
    The changes of the columns of one block over many windows, each open at its start.

    Scrapes come at regular times, so that most windows are extrapolated alike.
    """

    __slots__ = ("_bounds", "_firsts", "_kind", "_lasts", "_stretches", "_windows")

    def __init__(self, kind: Kind, windows: Windows, bounds: Sequence[Window]) -> None:
        self._kind = kind
        self._windows = windows
        self._bounds = bounds
        self._firsts = [start for start, _ in windows.spans]
        self._lasts = [end - 1 for _, end in windows.spans]
        self._stretches = self._stretched()

    def _stretched(self) -> list[Stretch]:
        own = self._windows.own
        known: dict[tuple[int, ...], Extrapolation] = {}
        found: list[Stretch] = []
        last, began = None, 0
        for place, ((start, end), (after, until)) in enumerate(zip(self._windows.spans, self._bounds, strict=True)):
            extrapolation = None
            if end - start > 1:
                first, newest = own[start], own[end - 1]
                alike = (first - after, newest - first, until - newest, end - start)
                extrapolation = known.get(alike)
                if extrapolation is None:
                    extrapolation = known[alike] = Extrapolation(self._kind, after, until, (first, newest), end - start)
            if extrapolation is not last:
                found.append((last, began, place))
                last, began = extrapolation, place
        return [*found, (last, began, len(self._bounds))]

    def column(self, column: Column) -> list[Value]:
        """Return the result of one column at each time."""
        windows, kind = self._windows, self._kind
        values = windows.whole(column)
        if values is None or (kind.counter and not column.counter):
            times, values, spans = windows.points(column)
            return [
                change(kind, (times[start:end], values[start:end]), *bound)
                for (start, end), bound in zip(spans, self._bounds, strict=True)
            ]
        resets = [row - windows.first for row in column.resets if windows.first < row < windows.last]
        found: list[Value] = []
        for extrapolation, began, ended in self._stretches:
            if extrapolation is None:
                found += [None] * (ended - began)
                continue
            firsts, lasts = self._firsts[began:ended], self._lasts[began:ended]
            if resets and kind.counter:
                found += [_with_resets(values, resets, ends, extrapolation) for ends in zip(firsts, lasts, strict=True)]
            else:
                found += _changed(kind, extrapolation, [values[k] for k in firsts], [values[k] for k in lasts])
        return found


def _changed(kind: Kind, extrapolation: Extrapolation, firsts: Sequence[float], lasts: Sequence[float]) -> list[float]:
    """Return the results of windows that are extrapolated alike."""
    to_start, interval, extrapolate = extrapolation.to_start, extrapolation.interval, extrapolation.change
    factor = extrapolation.factor(to_start)
    rises = map(sub, lasts, firsts)
    if not kind.counter:
        return [rise * factor for rise in rises]
    return [
        0.0
        if not rise
        else rise * factor
        if interval * (first / rise) >= to_start and rise > 0
        else extrapolate(first, rise)
        for first, rise in zip(firsts, rises, strict=True)
    ]


def _with_resets(
    values: Sequence[float], resets: Sequence[int], ends: tuple[int, int], extrapolation: Extrapolation
) -> float:
    start, last = ends
    rise = values[last] - values[start]
    for row in resets[bisect_right(resets, start) : bisect_right(resets, last)]:
        rise += values[row - 1]
    return extrapolation.change(values[start], rise)


def not_counters(series: Series) -> Sequence[str]:
    """Return the metric names that are not those of counters, each once."""
    names = {labels.name: None for labels in series}
    return tuple(name for name in names if name and not name.endswith(_COUNTER_ENDINGS))


def block_changes(
    run: Run, kind: Kind, block: Block, columns: Sequence[Column], window: tuple[Instant, Instant]
) -> list[float | None]:
    """Return the result of each column of a block over `window`, open at its start."""
    times, base = block.view
    start, end = bisect_right(times, window[0]) + base, bisect_right(times, window[1]) + base
    if end - start < 2:  # noqa: PLR2004 - a change needs two
        return [None] * len(columns)
    last = end - 1
    extrapolate = Extrapolation(kind, *window, (times[start - base], times[last - base]), end - start).change
    changes: list[float | None] = []
    for column in columns:
        gaps, resets = column.gaps, column.resets
        values, first = column.view
        noted = column.counter or not kind.counter
        if not noted or first > start or last - first >= len(values) or (gaps and gaps[-1] >= start):
            changes.append(_scan(run, kind, column, window))
            continue
        before = values[start - first]
        rise = values[last - first] - before
        if kind.counter and resets and resets[-1] > start:
            # Without gaps the value that the counter fell from is in the row before.
            for row in resets[bisect_right(resets, start) : bisect_right(resets, last)]:
                rise += values[row - 1 - first]
        changes.append(extrapolate(before, rise))
    run.touch(2 * len(columns))
    return changes


def _scan(run: Run, kind: Kind, column: Column, window: tuple[Instant, Instant]) -> float | None:
    points = block_points(column.block, (column,), *window)[0]
    run.touch(len(points[1]))
    return change(kind, points, *window)
