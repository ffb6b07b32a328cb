"""
Aggregations that make one element of each group.

reference: Prometheus 3.5, promql/engine.go aggregation: the order of the operations is theirs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql import sums
from monitor.promql.frame import EMPTY_FRAME, Frame, Steps, Value
from monitor.promql.lex import Position
from monitor.promql.memo import Memo
from monitor.promql.node import ScalarNode, VectorNode
from monitor.promql.over_time import greatest, least
from monitor.promql.quantile import check_quantile, quantile
from monitor.promql.run import Run
from monitor.promql.vector import NOTHING, Series, Vector

Aggregator = Callable[[Sequence[float]], float]


def _stdvar(values: Sequence[float]) -> float:
    first = values[0]
    mean, squares = first, 0.0 if math.isfinite(first) else math.nan
    for count, value in enumerate(values[1:], 2):
        delta = value - mean
        mean += delta / count
        squares += delta * (value - mean)
    return squares / len(values)


def _stddev(values: Sequence[float]) -> float:
    return math.sqrt(_stdvar(values))


def _count(values: Sequence[float]) -> float:
    return float(len(values))


def _group(_: Sequence[float]) -> float:
    return 1.0


AGGREGATORS: dict[str, Aggregator] = {
    "sum": sums.total,
    "avg": sums.mean,
    "min": least,
    "max": greatest,
    "count": _count,
    "group": _group,
    "stddev": _stddev,
    "stdvar": _stdvar,
}


# Of one value they are that value.
_LIKE_ITS_ONLY = frozenset({sums.total, sums.mean, least, greatest})


@dataclass(frozen=True, slots=True)
class Grouping:
    """`by (labels)`, or `without (labels)`; no clause is `by ()`."""

    labels: frozenset[str] = frozenset()
    without: bool = False

    def key(self, labels: Labels) -> Labels:
        """Return the labels of the group."""
        if self.without:
            return Labels([pair for pair in labels if pair[0] not in self.labels and pair[0] != METRIC_NAME])
        return Labels([pair for pair in labels if pair[0] in self.labels])


class Groups(Memo[Series, tuple[Series, Sequence[Sequence[int]]]]):
    """The labels of each group, and the indices of its members."""

    __slots__ = ()

    def __init__(self, grouping: Grouping) -> None:
        def make(series: Series) -> tuple[Series, Sequence[Sequence[int]]]:
            members: dict[Labels, list[int]] = {}
            for index, labels in enumerate(series):
                members.setdefault(grouping.key(labels), []).append(index)
            return tuple(members), tuple(members.values())

        super().__init__(make)


class Aggregation(VectorNode):
    """`sum by (a) (v)` and its kind."""

    __slots__ = ("_aggregator", "_groups", "_of")

    def __init__(self, aggregator: Aggregator, grouping: Grouping, of: VectorNode) -> None:
        super().__init__(of)
        self._aggregator = aggregator
        self._of = of
        self._groups = Groups(grouping)

    def vector(self, run: Run, at: Instant) -> Vector:
        vector = self._of.vector(run, at)
        if not vector.series:
            return NOTHING
        series, groups = self._groups.of(vector.series)
        aggregator, values = self._aggregator, vector.values
        return Vector(series, [aggregator([values[k] for k in members]) for members in groups])

    def frame(self, run: Run, steps: Steps) -> Frame:
        of, aggregator = self._of.frame(run, steps), self._aggregator
        if not of.series:
            return EMPTY_FRAME
        series, groups = self._groups.of(of.series)
        return Frame(series, [_along(aggregator, [of.columns[k] for k in members]) for members in groups])


def _along(aggregator: Aggregator, columns: Sequence[Sequence[Value]]) -> list[Value]:
    """Return the aggregate of those of `columns` that are there, at each time."""
    if len(columns) == 1 and aggregator in _LIKE_ITS_ONLY:
        return list(columns[0])
    if any(None in column for column in columns):
        rows = ([value for value in row if value is not None] for row in zip(*columns, strict=True))
        return [aggregator(row) if row else None for row in rows]
    whole: Any = columns
    return list(map(aggregator, zip(*whole, strict=True)))


class Quantile(VectorNode):
    """`quantile(q, v)`."""

    __slots__ = ("_groups", "_of", "_position", "_q")

    def __init__(self, q: ScalarNode, grouping: Grouping, of: VectorNode, position: Position) -> None:
        super().__init__(q, of)
        self._q = q
        self._of = of
        self._position = position
        self._groups = Groups(grouping)

    def vector(self, run: Run, at: Instant) -> Vector:
        q = self._q.value(run, at)
        vector = self._of.vector(run, at)
        check_quantile(run, q, self._position)
        if not vector.series:
            return NOTHING
        series, groups = self._groups.of(vector.series)
        values = vector.values
        return Vector(series, [quantile(q, [values[k] for k in members]) for members in groups])
