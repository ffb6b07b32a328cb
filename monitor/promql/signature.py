"""The arguments of a call, by the types that a function asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.promql.error import refused
from monitor.promql.lex import Position
from monitor.promql.node import MatrixNode, Node, ScalarNode, StringNode, VectorNode
from monitor.promql.sites import Site


@dataclass(frozen=True, slots=True)
class Arguments:
    """The nodes handed to a function, and where they stand. The methods raise PromqlError on another type."""

    site: Site
    nodes: Sequence[Node]

    def __len__(self) -> int:
        return len(self.nodes)

    def position(self, index: int) -> Position:
        return self.site.argument(index)

    def vector(self, index: int) -> VectorNode:
        node = self._node(index, "instant vector")
        if not isinstance(node, VectorNode):
            raise self._wrong(index, "instant vector")
        return node

    def matrix(self, index: int) -> MatrixNode:
        node = self._node(index, "range vector")
        if not isinstance(node, MatrixNode):
            raise self._wrong(index, "range vector")
        return node

    def scalar(self, index: int) -> ScalarNode:
        node = self._node(index, "scalar")
        if not isinstance(node, ScalarNode):
            raise self._wrong(index, "scalar")
        return node

    def string(self, index: int) -> str:
        node = self._node(index, "string")
        if not isinstance(node, StringNode):
            raise self._wrong(index, "string")
        return node.text

    def _node(self, index: int, expected: str) -> Node:
        if index >= len(self.nodes):
            raise refused(f"expected a {expected} as argument {index + 1} of {self.site.name}()", self.site.position)
        return self.nodes[index]

    def _wrong(self, index: int, expected: str) -> Exception:
        return refused(
            f'expected type {expected} in call to function "{self.site.name}", got {type_of(self.nodes[index])}',
            self.position(index),
        )


def type_of(node: Node) -> str:
    """Return the type of a node's value, as Prometheus words it in errors."""
    if isinstance(node, VectorNode):
        return "instant vector"
    if isinstance(node, MatrixNode):
        return "range vector"
    return "scalar" if isinstance(node, ScalarNode) else "string"
