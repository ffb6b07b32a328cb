"""deriv and predict_linear."""

import math
from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.promql import sums
from monitor.promql.names import Unnamed
from monitor.promql.node import MatrixNode, ScalarNode, VectorNode
from monitor.promql.run import Run
from monitor.promql.selector import present
from monitor.promql.vector import Vector


def regression(times: Sequence[Instant], values: Sequence[float], origin: Instant) -> tuple[float, float]:
    """
    Return the slope a second and the value at `origin` of the line of least squares.

    reference: Prometheus 3.5, promql/functions.go linearRegression.
    """
    first = values[0]
    if all(value == first for value in values[1:]):
        return (math.nan, math.nan) if math.isinf(first) else (0.0, first)
    count = float(len(values))
    x = [(time - origin) / 1000 for time in times]
    sum_x, sum_y = _sum(x), _sum(values)
    sum_xy = _sum([a * b for a, b in zip(x, values, strict=True)])
    sum_xx = _sum([a * a for a in x])
    covariance = sum_xy - sum_x * sum_y / count
    variance = sum_xx - sum_x * sum_x / count
    slope = covariance / variance if variance else math.nan
    return slope, sum_y / count - slope * sum_x / count


def _sum(values: Sequence[float]) -> float:
    total, lost = sums.compensated(values)
    return total + lost


class Derivative(VectorNode):
    """`deriv(x[5m])`: the slope a second."""

    __slots__ = ("_names", "_of")

    def __init__(self, of: MatrixNode) -> None:
        super().__init__(of)
        self._of = of
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        matrix = self._of.matrix(run, at)
        slopes = [
            regression(times, values, times[0])[0] if len(values) > 1 else None for times, values in matrix.points
        ]
        found = present(matrix.series, slopes)
        return Vector(self._names.of(found.series), found.values)


class Prediction(VectorNode):
    """`predict_linear(x[5m], seconds)`: the value on the line so many seconds after the time of evaluation."""

    __slots__ = ("_names", "_of", "_seconds")

    def __init__(self, of: MatrixNode, seconds: ScalarNode) -> None:
        super().__init__(of, seconds)
        self.moving = True
        self._of = of
        self._seconds = seconds
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        matrix, seconds = self._of.matrix(run, at), self._seconds.value(run, at)
        lines = [regression(*points, at) if len(points[1]) > 1 else None for points in matrix.points]
        ends = [None if line is None else line[0] * seconds + line[1] for line in lines]
        found = present(matrix.series, ends)
        return Vector(self._names.of(found.series), found.values)
