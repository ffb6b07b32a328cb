"""The nodes of a plan: what each kind promises to the one above it."""

from abc import ABC, abstractmethod

from monitor.model.instant import Instant
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


class MatrixNode(Node, ABC):
    __slots__ = ()

    @abstractmethod
    def matrix(self, run: Run, at: Instant) -> Matrix:
        """Return the range vector at one time. Raises PromqlError."""
