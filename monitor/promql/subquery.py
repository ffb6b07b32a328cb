"""Subqueries: `expression[1h:1m]`, the expression evaluated at each step of a range."""

from collections.abc import Sequence

from monitor.model.instant import Duration, Instant
from monitor.promql.node import MatrixNode, VectorNode
from monitor.promql.run import Run
from monitor.promql.selector import Shift
from monitor.promql.vector import Matrix, Vector, transposed


class Subquery(MatrixNode):
    """The values of an expression at the multiples of `step` in `(t - range, t]`."""

    __slots__ = ("_of", "_step", "range", "shift")

    def __init__(self, of: VectorNode, shift: Shift, range_: Duration, step: Duration | None) -> None:
        super().__init__(of)
        self.moving = not shift.fixed
        self._of = of
        self.shift = shift
        self.range = range_
        self._step = step

    def matrix(self, run: Run, at: Instant) -> Matrix:
        until = self.shift.apply(run, at)
        after = until - self.range
        step = run.subquery_step if self._step is None else max(self._step, 1)
        times = range((after // step + 1) * step, until + 1, step)
        vectors = self._vectors(run, times)
        series, points = transposed(times, vectors)
        run.touch(sum([len(values) for _, values in points]))
        return Matrix(series, points, after, until)

    def _vectors(self, run: Run, times: Sequence[Instant]) -> Sequence[Vector]:
        # The steps of a subquery are the same whatever the time of evaluation, so a range query shares them.
        before = run.caches.get(self)
        known: dict[Instant, Vector] = before if isinstance(before, dict) else {}
        found: dict[Instant, Vector] = {}
        size = 0
        for time in times:
            vector = known.get(time)
            if vector is None:
                run.tick()
                vector = self._of.vector(run, time)
            found[time] = vector
            size += len(vector.values)
            run.hold(size)
        run.caches[self] = found
        return tuple(found.values())
