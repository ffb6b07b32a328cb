"""sort and sort_desc."""

from monitor.model.instant import Instant
from monitor.promql.lex import Position
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Vector


class Sort(VectorNode):
    """Elements by value, NaN last; of no effect in a range query, whose result is ordered by labels."""

    __slots__ = ("_descending", "_of", "_position")

    def __init__(self, of: VectorNode, position: Position, *, descending: bool) -> None:
        super().__init__(of)
        self._of = of
        self._position = position
        self._descending = descending

    def vector(self, run: Run, at: Instant) -> Vector:
        vector = self._of.vector(run, at)
        if run.is_range:
            run.warn("sort is ineffective for range queries since results are always ordered by labels", self._position)
            return vector
        values, sign = vector.values, -1.0 if self._descending else 1.0
        order = sorted(range(len(values)), key=lambda k: (values[k] != values[k], sign * values[k]))
        return Vector(tuple([vector.series[k] for k in order]), [values[k] for k in order])
