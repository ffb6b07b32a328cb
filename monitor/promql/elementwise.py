"""Functions that change each element of a vector by itself: round, clamp, the mathematics, the dates, timestamp."""

import math
from collections.abc import Callable

from monitor.model.instant import Instant
from monitor.promql.frame import Frame, Steps, framed
from monitor.promql.mathematics import to_nearest
from monitor.promql.names import Unnamed
from monitor.promql.node import ScalarNode, VectorNode
from monitor.promql.run import Run
from monitor.promql.selector import InstantSelector
from monitor.promql.vector import NOTHING, Vector


class Elementwise(VectorNode):
    """A function of the value alone, such as `abs(v)` or `hour(v)`."""

    __slots__ = ("_function", "_names", "_of")

    def __init__(self, function: Callable[[float], float], of: VectorNode) -> None:
        super().__init__(of)
        self._function = function
        self._of = of
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        vector = self._of.vector(run, at)
        return Vector(self._names.of(vector.series), list(map(self._function, vector.values)))

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, function = self._of.frame(run, steps), self._function
        columns = [[None if value is None else function(value) for value in column] for column in of.columns]
        return self._names.frame(of.series, columns)


class Round(VectorNode):
    """`round(v, to_nearest)`."""

    __slots__ = ("_names", "_nearest", "_of")

    def __init__(self, of: VectorNode, nearest: ScalarNode) -> None:
        super().__init__(of, nearest)
        self._of = of
        self._nearest = nearest
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        vector, nearest = self._of.vector(run, at), self._nearest.value(run, at)
        return Vector(self._names.of(vector.series), [to_nearest(value, nearest) for value in vector.values])

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, nearest = self._of.frame(run, steps), self._nearest.values(run, steps)
        columns = [
            [None if value is None else to_nearest(value, unit) for value, unit in zip(column, nearest, strict=True)]
            for column in of.columns
        ]
        return self._names.frame(of.series, columns)


class Clamp(VectorNode):
    """
    `clamp(v, min, max)`, and clamp_min and clamp_max with one bound infinite.

    NaN, be it a bound or a value, gives NaN; but an infinite bound on its own side is stronger, as in Go.
    """

    __slots__ = ("_high", "_low", "_names", "_of")

    def __init__(self, of: VectorNode, low: ScalarNode, high: ScalarNode) -> None:
        super().__init__(of, low, high)
        self._of = of
        self._low = low
        self._high = high
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        vector, low, high = self._of.vector(run, at), self._low.value(run, at), self._high.value(run, at)
        if low > high:
            return NOTHING
        return Vector(self._names.of(vector.series), [clamped(value, low, high) for value in vector.values])

    def frame(self, run: Run, steps: Steps) -> Frame:
        of = self._of.frame(run, steps)
        bounds = list(zip(self._low.values(run, steps), self._high.values(run, steps), strict=True))
        columns = [
            [
                None if value is None or low > high else clamped(value, low, high)
                for value, (low, high) in zip(column, bounds, strict=True)
            ]
            for column in of.columns
        ]
        kept = framed(of.series, columns)
        return self._names.frame(kept.series, kept.columns)


def clamped(value: float, low: float, high: float) -> float:
    """Return Go's `Max(low, Min(high, value))`."""
    if math.isnan(value) or math.isnan(high):
        value = -math.inf if -math.inf in (value, high) else math.nan
    else:
        value = min(value, high)
    if math.isnan(value) or math.isnan(low):
        return math.inf if math.inf in (value, low) else math.nan
    return max(value, low)


class Timestamp(VectorNode):
    """`timestamp(v)`: the time of the sample if `v` is a selector, else the time of evaluation."""

    __slots__ = ("_names", "_of")

    def __init__(self, of: VectorNode) -> None:
        super().__init__(of)
        # Of anything but a selector it is the time of evaluation, even where the values do not move.
        self.moving = self.moving or not isinstance(of, InstantSelector)
        self._of = of
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        if isinstance(self._of, InstantSelector):
            vector = self._of.times(run, at)
        else:
            vector = self._of.vector(run, at)
            vector = Vector(vector.series, [at / 1000] * len(vector.series))
        return Vector(self._names.of(vector.series), vector.values)
