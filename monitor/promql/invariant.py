"""Parts of an expression that are the same at every step, because `@` fixes what they read."""

from monitor.model.instant import Instant
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Vector


class Invariant(VectorNode):
    """Evaluates its part once for all steps of a query."""

    __slots__ = ("_of",)

    def __init__(self, of: VectorNode) -> None:
        super().__init__(of)
        self._of = of

    def vector(self, run: Run, at: Instant) -> Vector:
        found = run.caches.get(self)
        if not isinstance(found, Vector):
            found = run.caches[self] = self._of.vector(run, at)
        return found
