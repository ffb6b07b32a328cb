"""What flows between the nodes while an expression is evaluated."""

from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.model.labels import Labels

Series = tuple[Labels, ...]


class Vector:
    """
    An instant vector: `values[k]` belongs to `series[k]`.

    `series` is the very same tuple from evaluation to evaluation while the set of series stays the same.
    """

    __slots__ = ("series", "values")

    def __init__(self, series: Series, values: Sequence[float]) -> None:
        self.series = series
        self.values = values

    def kept(self, indices: Sequence[int]) -> "Vector":
        """Return the elements at `indices`."""
        series, values = self.series, self.values
        if len(indices) == len(series):
            return self
        return Vector(tuple([series[k] for k in indices]), [values[k] for k in indices])


NOTHING = Vector((), ())


class Matrix:
    """
    A range vector: `points[k]` are the times and values of `series[k]` in `(after, until]`, without stale markers.

    A series may have no points.
    """

    __slots__ = ("after", "points", "series", "until")

    def __init__(self, series: Series, points: Sequence["Points"], after: Instant, until: Instant) -> None:
        self.series = series
        self.points = points
        self.after = after
        self.until = until


Points = tuple[Sequence[Instant], Sequence[float]]
NO_POINTS: Points = ((), ())


def transposed(times: Sequence[Instant], vectors: Sequence[Vector]) -> tuple[Series, Sequence[Points]]:
    """Return the points of each series of `vectors`, whose times are `times`."""
    if not vectors:
        return (), ()
    series = vectors[0].series
    if all(vector.series is series for vector in vectors):
        return series, [(times, values) for values in zip(*[vector.values for vector in vectors], strict=True)]
    points: dict[Labels, tuple[list[Instant], list[float]]] = {}
    for time, vector in zip(times, vectors, strict=True):
        for labels, value in zip(vector.series, vector.values, strict=True):
            some = points.get(labels)
            if some is None:
                some = points[labels] = ([], [])
            some[0].append(time)
            some[1].append(value)
    return tuple(points), tuple(points.values())
