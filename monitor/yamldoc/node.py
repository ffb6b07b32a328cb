"""The tree of a document: texts, lists and tables that know their place. Nothing is interpreted here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from monitor.yamldoc.mistake import Place

NULLS = frozenset(("", "~", "null", "Null", "NULL"))


class Style(StrEnum):
    """How a scalar is written; the values are YAML's indicators."""

    PLAIN = ""
    SINGLE = "'"
    DOUBLE = '"'
    LITERAL = "|"
    FOLDED = ">"


@dataclass(frozen=True, slots=True)
class Scalar:
    """
    One value as text: whether `5m`, `on` or `1:30` is a string or something else is for the schema to say.

    `start` is the index of its first character (or indicator) in the text of the document.
    `plain`: neither quoted, nor a block, nor tagged as a string; only such a value can be a number, a boolean or null.
    """

    text: str
    place: Place
    style: Style
    start: int
    plain: bool

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in NULLS


class SequenceNode(list["Node"]):
    """A list and where it begins; the tree is not to be changed once it is read."""

    __slots__ = ("place",)

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class MappingNode(dict[str, "Node"]):
    """A table, where it begins, and where each of its keys stands."""

    __slots__ = ("key_places", "place")

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.key_places: dict[str, Place] = {}


Node: TypeAlias = Scalar | SequenceNode | MappingNode
# A path from the root of a document: keys, and positions in lists.
Loc: TypeAlias = tuple[str | int, ...]


def find(root: Node | None, loc: Sequence[str | int]) -> Node | None:
    """Return the node at `loc`, or None."""
    node = root
    for step in loc:
        node = _child(node, step)
    return node


def place_of(root: Node | None, loc: Sequence[str | int], *, key: bool = False) -> Place:
    """Return where the deepest existing part of `loc` begins; with `key`, where the key of the last step stands."""
    node, place = root, root.place if root is not None else Place(1, 1)
    for depth, step in enumerate(loc, 1):
        if key and depth == len(loc) and isinstance(node, MappingNode) and step in node.key_places:
            return node.key_places[str(step)]
        node = _child(node, step)
        if node is None:
            break
        place = node.place
    return place


def children(node: Node | None) -> Iterable[tuple[str | int, Node]]:
    """Return the steps from `node` to what is directly below it, each with what is there."""
    if isinstance(node, MappingNode):
        return node.items()
    return enumerate(node) if isinstance(node, SequenceNode) else ()


def _child(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, MappingNode):
        return node.get(str(step))
    if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node):
        return node[step]
    return None
