"""histogram_quantile and histogram_fraction on classic histograms."""

import math
from collections.abc import Sequence
from typing import Any

from monitor.model.instant import Instant
from monitor.model.labels import BUCKET, METRIC_NAME, Labels, quoted
from monitor.promql.buckets import Histogram, Histograms, fraction, histograms, quantile, rising
from monitor.promql.error import PromqlError
from monitor.promql.frame import Frame, NotColumnar, Steps, Value, framed
from monitor.promql.lex import Position
from monitor.promql.literal import Number
from monitor.promql.memo import Memo
from monitor.promql.names import check_distinct
from monitor.promql.node import ScalarNode, VectorNode
from monitor.promql.quantile import check_quantile
from monitor.promql.run import Run
from monitor.promql.vector import Series, Vector


def _distinct(series: Series) -> Histograms:
    found = histograms(series)
    check_distinct(tuple(found.labels))
    return found


def _of_metric(labels: Labels) -> str:
    name = labels.value(METRIC_NAME)
    return f" for metric name {quoted(name)}" if name else ""


class HistogramNode(VectorNode):
    """A call that makes one element of each histogram in a vector."""

    __slots__ = ("_histograms", "_of", "_position")

    def __init__(self, of: VectorNode, position: Position, *parameters: ScalarNode) -> None:
        super().__init__(of, *parameters)
        self._of = of
        self._position = position
        self._histograms = Memo(_distinct)

    def _found(self, run: Run, at: Instant) -> tuple[Histograms, Vector]:
        vector = self._of.vector(run, at)
        found = self._histograms.of(vector.series)
        for labels in found.malformed:
            run.warn(
                f'bucket label "le" is missing or has a malformed value of {quoted(labels.value(BUCKET))}'
                + _of_metric(labels),
                self._position,
            )
        return found, vector


class HistogramQuantile(HistogramNode):
    """`histogram_quantile(q, buckets)`."""

    __slots__ = ("_q", "_q_position")

    def __init__(self, q: ScalarNode, of: VectorNode, q_position: Position, position: Position) -> None:
        super().__init__(of, position, q)
        self._q = q
        self._q_position = q_position

    def vector(self, run: Run, at: Instant) -> Vector:
        q = self._q.value(run, at)
        check_quantile(run, q, self._q_position)
        found, vector = self._found(run, at)
        results = [self._one(run, q, found, index, vector) for index in range(len(found.labels))]
        return Vector(found.labels, results)

    def frame(self, run: Run, steps: Steps) -> Frame:
        q = self._q
        if not isinstance(q, Number) or not 0 <= q.number <= 1:
            return super().frame(run, steps)
        of = self._of.frame(run, steps)
        try:
            found = self._histograms.of(of.series)
        except PromqlError as err:
            raise NotColumnar from err
        return framed(found.labels, [_along(q.number, one, of.columns) for one in found.histograms])

    def _one(self, run: Run, q: float, found: Histograms, index: int, vector: Vector) -> float:
        if not 0 <= q <= 1:
            return math.nan if q != q else math.copysign(math.inf, q)  # noqa: PLR0124 - NaN
        histogram = found.histograms[index]
        if histogram.bounds[-1] != math.inf:
            return math.nan
        counts = histogram.counts(vector.values)
        if rising(counts):
            run.inform(
                "input to histogram_quantile needed to be fixed for monotonicity (see "
                "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)"
                + _of_metric(vector.series[histogram.members[0][0]]),
                self._position,
            )
        return quantile(q, histogram.bounds, counts)


def _along(q: float, histogram: Histogram, columns: Sequence[Sequence[Value]]) -> list[Value]:
    """Return the quantile at each time. Raises NotColumnar when at one of them not all buckets are there."""
    if any(len(some) > 1 for some in histogram.members):
        raise NotColumnar
    buckets = [columns[some[0]] for some in histogram.members]
    if len({column.count(None) for column in buckets}) > 1:
        raise NotColumnar
    if any(None in column for column in buckets):
        return [_of_row(q, histogram.bounds, row) for row in zip(*buckets, strict=True)]
    whole: Any = buckets
    return [_of_counts(q, histogram.bounds, list(row)) for row in zip(*whole, strict=True)]


def _of_row(q: float, bounds: Sequence[float], row: Sequence[Value]) -> Value:
    counts = [count for count in row if count is not None]
    if len(counts) < len(row):
        if counts:
            raise NotColumnar
        return None
    return _of_counts(q, bounds, counts)


def _of_counts(q: float, bounds: Sequence[float], counts: list[float]) -> float:
    # Where nothing was observed the answer is the same, and quicker.
    if bounds[-1] != math.inf or not any(counts):
        return math.nan
    rising(counts)
    return quantile(q, bounds, counts)


class HistogramFraction(HistogramNode):
    """`histogram_fraction(lower, upper, buckets)`."""

    __slots__ = ("_lower", "_upper")

    def __init__(self, lower: ScalarNode, upper: ScalarNode, of: VectorNode, position: Position) -> None:
        super().__init__(of, position, lower, upper)
        self._lower = lower
        self._upper = upper

    def vector(self, run: Run, at: Instant) -> Vector:
        lower, upper = self._lower.value(run, at), self._upper.value(run, at)
        found, vector = self._found(run, at)
        results = [fraction(lower, upper, one.bounds, one.counts(vector.values)) for one in found.histograms]
        return Vector(found.labels, results)
