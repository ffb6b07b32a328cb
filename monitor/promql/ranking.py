"""topk, bottomk and count_values."""

import math
from collections.abc import Sequence
from decimal import Decimal
from heapq import nlargest, nsmallest

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.sample import format_value
from monitor.promql.aggregate import Grouping, Groups
from monitor.promql.error import PromqlError
from monitor.promql.node import ScalarNode, VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import NOTHING, Vector

_MOST = 2**63


class Ranking(VectorNode):
    """`topk(k, v)` or `bottomk(k, v)`: elements keep their labels and name, the best of a group first."""

    __slots__ = ("_groups", "_k", "_of", "_top")

    def __init__(self, k: ScalarNode, grouping: Grouping, of: VectorNode, *, top: bool) -> None:
        super().__init__(k, of)
        self._k = k
        self._of = of
        self._top = top
        self._groups = Groups(grouping)

    def vector(self, run: Run, at: Instant) -> Vector:
        k = self._count(run, at)
        vector = self._of.vector(run, at)
        if k < 1 or not vector.series:
            return NOTHING
        _, groups = self._groups.of(vector.series)
        chosen = [index for members in groups for index in self._best(k, vector.values, members)]
        return Vector(tuple([vector.series[index] for index in chosen]), [vector.values[index] for index in chosen])

    def _count(self, run: Run, at: Instant) -> int:
        k = self._k.value(run, at)
        if math.isnan(k):
            raise PromqlError("parameter value is NaN")
        if not -_MOST <= k < _MOST:
            raise PromqlError(f"scalar value {k} overflows int64")
        return int(k)

    def _best(self, k: int, values: Sequence[float], members: Sequence[int]) -> Sequence[int]:
        # NaN comes last in both.
        if self._top:
            return nlargest(k, members, key=lambda index: (values[index] == values[index], values[index]))
        return nsmallest(k, members, key=lambda index: (values[index] != values[index], values[index]))


class CountValues(VectorNode):
    """`count_values("label", v)`: how many elements of the group have each value."""

    __slots__ = ("_grouping", "_label", "_of")

    def __init__(self, label: str, grouping: Grouping, of: VectorNode) -> None:
        super().__init__(of)
        self._label = label
        # The label is set before the groups are made: `without` may take it away again.
        self._grouping = grouping if grouping.without else Grouping(grouping.labels | {label})
        self._of = of

    def vector(self, run: Run, at: Instant) -> Vector:
        vector = self._of.vector(run, at)
        counts: dict[Labels, int] = {}
        for labels, value in zip(vector.series, vector.values, strict=True):
            key = self._grouping.key(labels.with_({self._label: in_full(value)}))
            counts[key] = counts.get(key, 0) + 1
        return Vector(tuple(counts), [float(count) for count in counts.values()])


def in_full(value: float) -> str:
    """Return a float without an exponent, as Go's `f` format with the shortest precision does."""
    return format(Decimal(repr(value)), "f").removesuffix(".0") if math.isfinite(value) else format_value(value)
