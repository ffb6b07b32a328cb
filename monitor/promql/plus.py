"""The unary plus."""

from monitor.model.instant import Instant
from monitor.promql.frame import Frame, Steps
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Vector


class Plus(VectorNode):
    """`+v`: the vector as it is, but no longer a selector, which timestamp and absent ask for."""

    __slots__ = ("_of",)

    def __init__(self, of: VectorNode) -> None:
        super().__init__(of)
        self._of = of

    def vector(self, run: Run, at: Instant) -> Vector:
        return self._of.vector(run, at)

    def frame(self, run: Run, steps: Steps) -> Frame:
        return self._of.frame(run, steps)
