"""The arguments of a call, by the types that a function asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.promql.error import refused
from monitor.promql.lex import Position
from monitor.promql.node import MatrixNode, Node, ScalarNode, StringNode, VectorNode
from monitor.promql.plus import Plus
from monitor.promql.selector import InstantSelector
from monitor.promql.sites import Site


@dataclass(frozen=True, slots=True)
class Arguments:
    """The nodes handed to a function, and where they stand. The methods raise PromqlError on another type."""

    site: Site
    nodes: Sequence[Node]

    def __len__(self) -> int:
        return len(self.nodes)

    def position(self, index: int) -> Position:
        """
        Return the place of an argument, as Prometheus tells it in remarks.

        That is inside its parentheses, but for a part that is the same at all times in a call that is not.
        """
        moves = any(node.moving for node in self.nodes)
        return self.site.argument(index, inside=not moves or self.nodes[index].moving)

    def vector(self, index: int) -> VectorNode:
        node = self._node(index, "instant vector")
        if not isinstance(node, VectorNode):
            raise self._wrong(index, "instant vector")
        if isinstance(node, InstantSelector) and self.site.has_plus(index):
            return Plus(node)
        return node

    def matrix(self, index: int) -> MatrixNode:
        node = self._node(index, "range vector")
        if not isinstance(node, MatrixNode):
            raise self._wrong(index, "range vector")
        if self.site.has_plus(index):
            raise refused(
                "unary expression only allowed on expressions of type scalar or instant vector, got range vector",
                self.site.argument(index, inside=True),
            )
        return node

    def scalar(self, index: int) -> ScalarNode:
        node = self._node(index, "scalar")
        if not isinstance(node, ScalarNode):
            raise self._wrong(index, "scalar")
        return node

    def string(self, index: int) -> str:
        node = self._node(index, "string")
        if not isinstance(node, StringNode) or self.site.has_plus(index):
            raise self._wrong(index, "string")
        return node.text

    def _node(self, index: int, expected: str) -> Node:
        if index >= len(self.nodes):
            raise refused(f"expected a {expected} as argument {index + 1} of {self.site.name}()", self.site.position)
        return self.nodes[index]

    def _wrong(self, index: int, expected: str) -> Exception:
        return refused(
            f'expected type {expected} in call to function "{self.site.name}", got {type_of(self.nodes[index])}',
            self.site.argument(index, inside=False),
        )


def type_of(node: Node) -> str:
    """Return the type of a node's value, as Prometheus words it in errors."""
    if isinstance(node, VectorNode):
        return "instant vector"
    if isinstance(node, MatrixNode):
        return "range vector"
    return "scalar" if isinstance(node, ScalarNode) else "string"
