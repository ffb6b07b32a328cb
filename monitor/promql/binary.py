"""Arithmetic and comparison between scalars and vectors."""

from collections.abc import Callable, Sequence

from monitor.model.instant import Instant
from monitor.promql.arithmetic import Operation
from monitor.promql.error import PromqlError
from monitor.promql.frame import EMPTY_FRAME, Frame, NotColumnar, Steps, Value, framed
from monitor.promql.matching import Matching, Pairs, pair
from monitor.promql.memo import Memo
from monitor.promql.names import Unnamed, check_distinct
from monitor.promql.node import Node, ScalarNode, VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import NOTHING, Series, Vector

Comparison = Callable[[float, float], bool]


class Negation(VectorNode):
    """`-v`: drops the name."""

    __slots__ = ("_names", "_of")

    def __init__(self, of: VectorNode) -> None:
        super().__init__(of)
        self._of = of
        self._names = Unnamed()

    def vector(self, run: Run, at: Instant) -> Vector:
        vector = self._of.vector(run, at)
        series = self._names.of(vector.series)
        return Vector(series, [-value for value in vector.values])

    def frame(self, run: Run, steps: Steps) -> Frame:
        of = self._of.frame(run, steps)
        columns = [[None if value is None else -value for value in column] for column in of.columns]
        return self._names.frame(of.series, columns)


class ScalarNegation(ScalarNode):
    __slots__ = ("_of",)

    def __init__(self, of: ScalarNode) -> None:
        super().__init__(of)
        self._of = of

    def value(self, run: Run, at: Instant) -> float:
        return -self._of.value(run, at)

    def values(self, run: Run, steps: Steps) -> Sequence[float]:
        return [-value for value in self._of.values(run, steps)]


class ScalarBinary(ScalarNode):
    """Two scalars; a comparison gives 0 or 1."""

    __slots__ = ("_left", "_operation", "_right")

    def __init__(self, operation: Operation | Comparison, left: ScalarNode, right: ScalarNode) -> None:
        super().__init__(left, right)
        self._operation = operation
        self._left = left
        self._right = right

    def value(self, run: Run, at: Instant) -> float:
        return float(self._operation(self._left.value(run, at), self._right.value(run, at)))

    def values(self, run: Run, steps: Steps) -> Sequence[float]:
        sides = zip(self._left.values(run, steps), self._right.values(run, steps), strict=True)
        return [float(self._operation(left, right)) for left, right in sides]


class WithScalar(VectorNode):
    """A vector and a scalar on either side."""

    __slots__ = ("_left", "_names", "_operation", "_right")

    def __init__(self, operation: Callable[[float, float], float], left: Node, right: Node) -> None:
        super().__init__(left, right)
        self._operation = operation
        self._left = left
        self._right = right
        self._names = Unnamed()

    def sides(self, run: Run, at: Instant) -> tuple[Vector, list[float]]:
        """Return the vector, and the results of the operation."""
        operation, left, right = self._operation, self._left, self._right
        if isinstance(left, VectorNode) and isinstance(right, ScalarNode):
            vector, scalar = left.vector(run, at), right.value(run, at)
            return vector, [operation(value, scalar) for value in vector.values]
        assert isinstance(left, ScalarNode)  # noqa: S101 - tells the type checker what the builder ensures
        assert isinstance(right, VectorNode)  # noqa: S101 - the same
        scalar, vector = left.value(run, at), right.vector(run, at)
        return vector, [operation(scalar, value) for value in vector.values]

    def vector(self, run: Run, at: Instant) -> Vector:
        vector, results = self.sides(run, at)
        return Vector(self._names.of(vector.series), results)

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, results = self.side_columns(run, steps)
        return self._names.frame(of.series, results)

    def side_columns(self, run: Run, steps: Steps) -> tuple[Frame, list[list[Value]]]:
        """Return the frame of the vector, and the results of the operation."""
        operation, left, right = self._operation, self._left, self._right
        if isinstance(left, VectorNode) and isinstance(right, ScalarNode):
            frame, scalars = left.frame(run, steps), right.values(run, steps)
            return frame, [meet(operation, column, scalars) for column in frame.columns]
        assert isinstance(left, ScalarNode)  # noqa: S101 - tells the type checker what the builder ensures
        assert isinstance(right, VectorNode)  # noqa: S101 - the same
        scalars, frame = left.values(run, steps), right.frame(run, steps)
        return frame, [meet(operation, scalars, column) for column in frame.columns]


class BoolWithScalar(WithScalar):
    """A comparison with `bool`: 0 or 1."""

    __slots__ = ()

    def vector(self, run: Run, at: Instant) -> Vector:
        vector, results = self.sides(run, at)
        return Vector(self._names.of(vector.series), [1.0 if true else 0.0 for true in results])

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, results = self.side_columns(run, steps)
        return self._names.frame(of.series, [_bools(column) for column in results])


class FilterWithScalar(WithScalar):
    """A comparison that filters: elements keep value and name."""

    __slots__ = ()

    def keeps(self, left: float, right: float) -> bool:
        """Say whether an element with these values on its sides stays."""
        return bool(self._operation(left, right))

    def vector(self, run: Run, at: Instant) -> Vector:
        vector, results = self.sides(run, at)
        return vector.kept([index for index, true in enumerate(results) if true])

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, results = self.side_columns(run, steps)
        pairs = zip(of.columns, results, strict=True)
        return framed(of.series, [_kept(column, result) for column, result in pairs])


def meet(operation: Callable[[float, float], float], left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
    """Return the results at the times when both sides are there."""
    return [
        None if one is None or other is None else operation(one, other) for one, other in zip(left, right, strict=True)
    ]


def _bools(results: Sequence[Value]) -> list[Value]:
    return [None if true is None else 1.0 if true else 0.0 for true in results]


def _kept(values: Sequence[Value], results: Sequence[Value]) -> list[Value]:
    return [value if true else None for value, true in zip(values, results, strict=True)]


class BetweenVectors(VectorNode):
    """Two vectors, element by element."""

    __slots__ = ("_left", "_operation", "_pairs", "_right")
    # Whether a result keeps the metric name of the "many" side.
    named = False

    def __init__(
        self, operation: Callable[[float, float], float], matching: Matching, left: VectorNode, right: VectorNode
    ) -> None:
        super().__init__(left, right)
        self._operation = operation
        self._left = left
        self._right = right
        named = self.named
        self._pairs: Memo[tuple[Series, Series], Pairs] = Memo(lambda sides: pair(matching, *sides, named=named))

    def _meet(self, run: Run, at: Instant) -> tuple[Pairs, Sequence[float], Sequence[float], list[float]] | None:
        left, right = self._left.vector(run, at), self._right.vector(run, at)
        if not left.series or not right.series:
            return None
        pairs = self._pairs.of((left.series, right.series))
        lefts = [left.values[k] for k in pairs.left]
        rights = [right.values[k] for k in pairs.right]
        return pairs, lefts, rights, list(map(self._operation, lefts, rights))

    def vector(self, run: Run, at: Instant) -> Vector:
        met = self._meet(run, at)
        if met is None:
            return NOTHING
        pairs, _, _, results = met
        return self._checked(pairs, Vector(pairs.result, results))

    def frame(self, run: Run, steps: Steps) -> Frame:
        met = self._meet_columns(run, steps)
        if met is None:
            return EMPTY_FRAME
        pairs, _, results = met
        return framed(pairs.result, results)

    def _meet_columns(self, run: Run, steps: Steps) -> tuple[Pairs, list[Sequence[Value]], list[list[Value]]] | None:
        """Return the pairs, the columns on the left, and the results."""
        left, right = self._left.frame(run, steps), self._right.frame(run, steps)
        if not left.series or not right.series:
            return None
        try:
            pairs = self._pairs.of((left.series, right.series))
        except PromqlError as err:
            # Two that meet the same one: perhaps never at the same time.
            raise NotColumnar from err
        if not pairs.unique:
            raise NotColumnar
        lefts = [left.columns[k] for k in pairs.left]
        both = zip(lefts, pairs.right, strict=True)
        return pairs, lefts, [meet(self._operation, column, right.columns[k]) for column, k in both]

    def _checked(self, pairs: Pairs, vector: Vector) -> Vector:
        if not pairs.unique:
            check_distinct(vector.series)
        return vector


class BoolBetweenVectors(BetweenVectors):
    """A comparison with `bool`: 0 or 1."""

    __slots__ = ()

    def vector(self, run: Run, at: Instant) -> Vector:
        met = self._meet(run, at)
        if met is None:
            return NOTHING
        pairs, _, _, results = met
        return self._checked(pairs, Vector(pairs.result, [1.0 if true else 0.0 for true in results]))

    def frame(self, run: Run, steps: Steps) -> Frame:
        met = self._meet_columns(run, steps)
        if met is None:
            return EMPTY_FRAME
        pairs, _, results = met
        return framed(pairs.result, [_bools(column) for column in results])


class FilterBetweenVectors(BetweenVectors):
    """A comparison that filters: the left value stays."""

    __slots__ = ()
    named = True

    def vector(self, run: Run, at: Instant) -> Vector:
        met = self._meet(run, at)
        if met is None:
            return NOTHING
        pairs, lefts, _, results = met
        kept = Vector(pairs.result, lefts).kept([index for index, true in enumerate(results) if true])
        return self._checked(pairs, kept)

    def frame(self, run: Run, steps: Steps) -> Frame:
        met = self._meet_columns(run, steps)
        if met is None:
            return EMPTY_FRAME
        pairs, lefts, results = met
        both = zip(lefts, results, strict=True)
        return framed(pairs.result, [_kept(column, result) for column, result in both])
