"""The nodes of a plan: what each kind promises to the one above it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.promql.frame import Frame, NotColumnar, Steps, columns_of
from monitor.promql.run import Run
from monitor.promql.vector import Matrix, Vector


class Node:
    """
    A part of an expression, made of other parts.

    `moving` says that its value depends on the time of evaluation, which that of a selector with `@` does not. Nodes
    remember what they made of label sets (see `memo`), but no values.
    """

    __slots__ = ("moving", "parts")
    moving: bool

    def __init__(self, *parts: "Node") -> None:
        self.parts = parts
        self.moving = any(part.moving for part in parts)


class ScalarNode(Node, ABC):
    __slots__ = ()

    @abstractmethod
    def value(self, run: Run, at: Instant) -> float:
        """Return the scalar at one time."""

    def values(self, run: Run, steps: Steps) -> Sequence[float]:
        """Return the scalar at each of the times. Raises PromqlError, and NotColumnar."""
        if steps.unseen:
            raise NotColumnar
        return [self.value(run, at) for at in steps.times]


class StringNode(Node):
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class VectorNode(Node, ABC):
    __slots__ = ()

    @abstractmethod
    def vector(self, run: Run, at: Instant) -> Vector:
        """Return the instant vector at one time. Raises PromqlError."""

    def frame(self, run: Run, steps: Steps) -> Frame:
        """
        Return the instant vectors at all the times: a kind of node that can do it in one go does.

        Raises NotColumnar, and PromqlError where any of them would.
        """
        if steps.unseen:
            raise NotColumnar
        return columns_of([self.vector(run, at) for at in steps.times])


class MatrixNode(Node, ABC):
    __slots__ = ()

    @abstractmethod
    def matrix(self, run: Run, at: Instant) -> Matrix:
        """Return the range vector at one time. Raises PromqlError."""
