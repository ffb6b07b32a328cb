"""
Functions of one series over a range: the `_over_time` family, changes, resets, irate, idelta.

reference: Prometheus 3.14, promql/functions.go. Each function takes the times and values of at least one sample.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import isnan

from monitor.model.instant import Instant
from monitor.promql import sliding, sums
from monitor.promql.frame import Frame, Steps, Value, framed
from monitor.promql.lex import Position
from monitor.promql.literal import Number
from monitor.promql.names import Unnamed
from monitor.promql.node import MatrixNode, ScalarNode, VectorNode
from monitor.promql.quantile import check_quantile, quantile
from monitor.promql.range_selector import RangeSelector
from monitor.promql.rows import Windows
from monitor.promql.run import Run
from monitor.promql.selector import present
from monitor.promql.vector import Vector
from monitor.storage.column import Column

Over = Callable[[Sequence[Instant], Sequence[float]], float | None]


def _sum(_: Sequence[Instant], values: Sequence[float]) -> float:
    return sums.total(values)


def _avg(_: Sequence[Instant], values: Sequence[float]) -> float:
    return sums.mean(values)


def _count(_: Sequence[Instant], values: Sequence[float]) -> float:
    return float(len(values))


def _first(_: Sequence[Instant], values: Sequence[float]) -> float:
    return values[0]


def _last(_: Sequence[Instant], values: Sequence[float]) -> float:
    return values[-1]


def _present(_: Sequence[Instant], __: Sequence[float]) -> float:
    return 1.0


def _max(_: Sequence[Instant], values: Sequence[float]) -> float:
    return greatest(values)


def _min(_: Sequence[Instant], values: Sequence[float]) -> float:
    return least(values)


def _stdvar(_: Sequence[Instant], values: Sequence[float]) -> float:
    mean = lost_mean = squares = lost_squares = 0.0
    for count, value in enumerate(values, 1):
        delta = value - (mean + lost_mean)
        mean, lost_mean = sums.add(delta / count, mean, lost_mean)
        squares, lost_squares = sums.add(delta * (value - (mean + lost_mean)), squares, lost_squares)
    return (squares + lost_squares) / len(values)


def _stddev(times: Sequence[Instant], values: Sequence[float]) -> float:
    return math.sqrt(_stdvar(times, values))


def _changes(_: Sequence[Instant], values: Sequence[float]) -> float:
    # NaN after NaN is no change.
    return float(sum(now != before and not (isnan(now) and isnan(before)) for before, now in pairwise(values)))


def _resets(_: Sequence[Instant], values: Sequence[float]) -> float:
    return float(sum(now < before for before, now in pairwise(values)))


def _irate(times: Sequence[Instant], values: Sequence[float]) -> float | None:
    if len(values) < 2 or times[-1] == times[-2]:  # noqa: PLR2004 - a change needs two
        return None
    rise = values[-1] if values[-1] < values[-2] else values[-1] - values[-2]
    return rise / ((times[-1] - times[-2]) / 1000)


def _idelta(times: Sequence[Instant], values: Sequence[float]) -> float | None:
    if len(values) < 2 or times[-1] == times[-2]:  # noqa: PLR2004 - a change needs two
        return None
    return values[-1] - values[-2]


def greatest(values: Sequence[float]) -> float:
    """Return the greatest value; NaN only if there is nothing else."""
    found = max(values)
    return found if found == found and not math.isnan(values[0]) else _real(values, max)  # noqa: PLR0124 - NaN


def least(values: Sequence[float]) -> float:
    """Return the least value; NaN only if there is nothing else."""
    found = min(values)
    return found if found == found and not math.isnan(values[0]) else _real(values, min)  # noqa: PLR0124 - NaN


def _real(values: Sequence[float], choose: Callable[[list[float]], float]) -> float:
    real = [value for value in values if not math.isnan(value)]
    return choose(real) if real else math.nan


OVER_TIME: dict[str, Over] = {
    "sum_over_time": _sum,
    "avg_over_time": _avg,
    "count_over_time": _count,
    "first_over_time": _first,
    "last_over_time": _last,
    "present_over_time": _present,
    "max_over_time": _max,
    "min_over_time": _min,
    "stdvar_over_time": _stdvar,
    "stddev_over_time": _stddev,
    "changes": _changes,
    "resets": _resets,
    "irate": _irate,
    "idelta": _idelta,
}
KEEPS_NAME = frozenset({"first_over_time", "last_over_time"})


class OverTime(VectorNode):
    """A call of one of `OVER_TIME`."""

    __slots__ = ("_function", "_names", "_of")

    def __init__(self, function: Over, of: MatrixNode, *, keeps_name: bool = False) -> None:
        super().__init__(of)
        self._function = function
        self._of = of
        self._names = None if keeps_name else Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        matrix = self._of.matrix(run, at)
        function = self._function
        found = present(matrix.series, [function(times, values) if values else None for times, values in matrix.points])
        if self._names is None:
            return found
        series = self._names.of(found.series)
        return Vector(series, found.values)

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, function = self._of, self._function
        if not isinstance(of, RangeSelector) or of.shift.fixed:
            return super().frame(run, steps)
        selected = of.selection.of(run)
        columns: list[list[Value]] = []
        for block, some in selected.blocks:
            windows = steps.windows(block, of.shift.offset, of.range)
            columns += [_along(function, windows, column) for column in some]
        found = framed(selected.series, columns)
        return found if self._names is None else self._names.frame(found.series, found.columns)


Slide = Callable[[Sequence[float], sliding.Spans], list[Value] | None]
# How each slides along a series: always where the series allows it, or only where ranges are long.
_ALWAYS: dict[Over, Slide] = {
    _count: sliding.counts,
    _first: sliding.firsts,
    _last: sliding.lasts,
    _changes: sliding.changes,
    _resets: sliding.resets,
    _sum: sliding.whole_sums,
    _avg: sliding.whole_means,
    _max: sliding.short_greatest,
    _min: sliding.short_least,
}
_LONG: dict[Over, Slide] = {_sum: sliding.sums, _avg: sliding.means, _max: sliding.greatest, _min: sliding.least}


def _along(function: Over, windows: Windows, column: Column, long: Slide | None = None) -> list[Value]:
    """Return the function of each window; `long` is how it slides where ranges are long."""
    values, spans = windows.whole(column), windows.spans
    times: Sequence[Instant] = windows.own
    if values is None:
        times, values, spans = windows.points(column)
    ways = [_ALWAYS.get(function), (long or _LONG.get(function)) if sliding.are_long(spans) else None]
    for way in ways:
        found = way(values, spans) if way is not None else None
        if found is not None:
            return found
    return [function(times[start:end], values[start:end]) if start < end else None for start, end in spans]


class QuantileOverTime(VectorNode):
    """`quantile_over_time(q, x[5m])`."""

    __slots__ = ("_names", "_of", "_position", "_q")

    def __init__(self, q: ScalarNode, of: MatrixNode, position: Position) -> None:
        super().__init__(q, of)
        self._q = q
        self._of = of
        self._position = position
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        matrix = self._of.matrix(run, at)
        q = self._q.value(run, at)
        found = present(matrix.series, [quantile(q, values) if values else None for _, values in matrix.points])
        if found.series:
            check_quantile(run, q, self._position)
        series = self._names.of(found.series)
        return Vector(series, found.values)

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, q = self._of, self._q
        if not isinstance(of, RangeSelector) or of.shift.fixed or not isinstance(q, Number):
            return super().frame(run, steps)
        number = q.number
        selected = of.selection.of(run)
        columns: list[list[Value]] = []
        for block, some in selected.blocks:
            windows = steps.windows(block, of.shift.offset, of.range)
            columns += [
                _along(lambda _, values: quantile(number, values), windows, column, partial(sliding.quantiles, number))
                for column in some
            ]
        found = framed(selected.series, columns)
        return self._names.frame(found.series, found.columns)
