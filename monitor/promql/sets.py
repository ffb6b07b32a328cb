"""and, or, unless."""

from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.promql.matching import Matching
from monitor.promql.memo import Memo
from monitor.promql.names import check_distinct
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Series, Vector

Sides = tuple[Series, Series]


class Sieve(VectorNode):
    """`and` and `unless`: elements of the left side by whether the right side has their signature."""

    __slots__ = ("_kept", "_left", "_right", "present")

    def __init__(self, matching: Matching, left: VectorNode, right: VectorNode, *, present: bool) -> None:
        super().__init__(left, right)
        self.present = present
        self._left = left
        self._right = right

        def kept(sides: Sides) -> Sequence[int]:
            signatures = {matching.signature(labels) for labels in sides[1]}
            return [k for k, labels in enumerate(sides[0]) if (matching.signature(labels) in signatures) is present]

        self._kept: Memo[Sides, Sequence[int]] = Memo(kept)

    def vector(self, run: Run, at: Instant) -> Vector:
        left, right = self._left.vector(run, at), self._right.vector(run, at)
        return left.kept(self._kept.of((left.series, right.series)))


class Union(VectorNode):
    """`or`: the left side, and the elements of the right side whose signature the left side lacks."""

    __slots__ = ("_joined", "_left", "_right")

    def __init__(self, matching: Matching, left: VectorNode, right: VectorNode) -> None:
        super().__init__(left, right)
        self._left = left
        self._right = right

        def joined(sides: Sides) -> tuple[Series, Sequence[int]]:
            signatures = {matching.signature(labels) for labels in sides[0]}
            added = [k for k, labels in enumerate(sides[1]) if matching.signature(labels) not in signatures]
            series = (*sides[0], *[sides[1][k] for k in added])
            check_distinct(series)
            return series, added

        self._joined: Memo[Sides, tuple[Series, Sequence[int]]] = Memo(joined)

    def vector(self, run: Run, at: Instant) -> Vector:
        left, right = self._left.vector(run, at), self._right.vector(run, at)
        if not right.series:
            return left
        series, added = self._joined.of((left.series, right.series))
        return Vector(series, [*left.values, *[right.values[k] for k in added]])
