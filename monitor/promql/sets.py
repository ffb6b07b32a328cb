"""and, or, unless."""

from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.promql.frame import Frame, Steps, Value, framed, merged
from monitor.promql.matching import Matching
from monitor.promql.memo import Memo
from monitor.promql.names import check_distinct
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Series, Vector

Sides = tuple[Series, Series]


class Sieve(VectorNode):
    """`and` and `unless`: elements of the left side by whether the right side has their signature."""

    __slots__ = ("_kept", "_left", "_matching", "_right", "present")

    def __init__(self, matching: Matching, left: VectorNode, right: VectorNode, *, present: bool) -> None:
        super().__init__(left, right)
        self.present = present
        self._left = left
        self._right = right
        self._matching = matching

        def kept(sides: Sides) -> Sequence[int]:
            signatures = {matching.signature(labels) for labels in sides[1]}
            return [k for k, labels in enumerate(sides[0]) if (matching.signature(labels) in signatures) is present]

        self._kept: Memo[Sides, Sequence[int]] = Memo(kept)

    def vector(self, run: Run, at: Instant) -> Vector:
        left, right = self._left.vector(run, at), self._right.vector(run, at)
        return left.kept(self._kept.of((left.series, right.series)))

    def frame(self, run: Run, steps: Steps) -> Frame:
        left, right = self._left.frame(run, steps), self._right.frame(run, steps)
        there = presence(self._matching, right)
        columns = []
        for labels, column in zip(left.series, left.columns, strict=True):
            other = there.get(self._matching.signature(labels))
            columns.append(_where(column, other, present=self.present))
        return framed(left.series, columns)


def _where(column: Sequence[Value], other: Sequence[Value] | None, *, present: bool) -> Sequence[Value]:
    """Return the values of the column at the times when `other` is there, or when it is not."""
    if other is None:
        return [None] * len(column) if present else column
    if present:
        return [None if there is None else value for value, there in zip(column, other, strict=True)]
    return [value if there is None else None for value, there in zip(column, other, strict=True)]


def presence(matching: Matching, frame: Frame) -> dict[Labels, Sequence[Value]]:
    """Return for each signature a column that is not None at the times when any series of it is there."""
    there: dict[Labels, Sequence[Value]] = {}
    for labels, column in zip(frame.series, frame.columns, strict=True):
        signature = matching.signature(labels)
        known = there.get(signature)
        if known is None:
            there[signature] = column
        else:
            there[signature] = [two if one is None else one for one, two in zip(known, column, strict=True)]
    return there


class Union(VectorNode):
    """`or`: the left side, and the elements of the right side whose signature the left side lacks."""

    __slots__ = ("_joined", "_left", "_matching", "_right")

    def __init__(self, matching: Matching, left: VectorNode, right: VectorNode) -> None:
        super().__init__(left, right)
        self._left = left
        self._right = right
        self._matching = matching

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

    def frame(self, run: Run, steps: Steps) -> Frame:
        left, right = self._left.frame(run, steps), self._right.frame(run, steps)
        if not right.series:
            return left
        there = presence(self._matching, left)
        added = []
        for labels, column in zip(right.series, right.columns, strict=True):
            other = there.get(self._matching.signature(labels))
            added.append(_where(column, other, present=False))
        rest = framed(right.series, added)
        return merged((*left.series, *rest.series), [*left.columns, *rest.columns])
