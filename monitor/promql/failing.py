"""Calls whose outcome does not depend on what they are given."""

from monitor.model.instant import Instant
from monitor.promql.error import PromqlError
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import NOTHING, Vector


class Failing(VectorNode):
    """A call that Prometheus parses and that fails at each evaluation, such as one with a bad regular expression."""

    __slots__ = ("_message",)

    def __init__(self, message: str, of: VectorNode) -> None:
        super().__init__(of)
        self.moving = True
        self._message = message

    def vector(self, run: Run, at: Instant) -> Vector:  # noqa: ARG002 - part of the signature
        raise PromqlError(self._message)


class Floatless(VectorNode):
    """A function of native histograms, given floats: there is nothing for it to work on."""

    __slots__ = ("_of",)

    def __init__(self, of: VectorNode) -> None:
        super().__init__(of)
        self._of = of

    def vector(self, run: Run, at: Instant) -> Vector:
        self._of.vector(run, at)
        return NOTHING
