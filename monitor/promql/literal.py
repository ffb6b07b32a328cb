"""Numbers, `time()`, and the ways between scalars and vectors."""

from collections.abc import Sequence
from math import nan

from monitor.model.instant import Instant
from monitor.model.labels import EMPTY
from monitor.promql.frame import Frame, Steps
from monitor.promql.node import ScalarNode, VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Vector

_ALONE = (EMPTY,)


class Number(ScalarNode):
    """A number or a duration in seconds."""

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def value(self, run: Run, at: Instant) -> float:  # noqa: ARG002 - it is the same at all times
        return self.number

    def values(self, run: Run, steps: Steps) -> Sequence[float]:  # noqa: ARG002 - it is the same at all times
        return [self.number] * len(steps.times)


class Time(ScalarNode):
    """`time()`: the time of evaluation, in seconds."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.moving = True

    def value(self, run: Run, at: Instant) -> float:  # noqa: ARG002 - part of the signature
        return at / 1000

    def values(self, run: Run, steps: Steps) -> Sequence[float]:  # noqa: ARG002 - part of the signature
        return [at / 1000 for at in steps.times]


class ToScalar(ScalarNode):
    """`scalar(v)`: the only element, else NaN."""

    __slots__ = ("_of",)

    def __init__(self, of: VectorNode) -> None:
        super().__init__(of)
        self._of = of

    def value(self, run: Run, at: Instant) -> float:
        values = self._of.vector(run, at).values
        return values[0] if len(values) == 1 else nan

    def values(self, run: Run, steps: Steps) -> Sequence[float]:
        columns = self._of.frame(run, steps).columns
        if not columns:
            return [nan] * len(steps.times)
        vectors = ([value for value in row if value is not None] for row in zip(*columns, strict=True))
        return [there[0] if len(there) == 1 else nan for there in vectors]


class ToVector(VectorNode):
    """`vector(s)`: one element without labels."""

    __slots__ = ("_of",)

    def __init__(self, of: ScalarNode) -> None:
        super().__init__(of)
        self._of = of

    def vector(self, run: Run, at: Instant) -> Vector:
        return Vector(_ALONE, (self._of.value(run, at),))

    def frame(self, run: Run, steps: Steps) -> Frame:
        return Frame(_ALONE, [self._of.values(run, steps)])
