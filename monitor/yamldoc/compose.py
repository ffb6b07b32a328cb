"""From text to the tree: YAML's own rules, and the limits that keep a hostile document small."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from monitor.yamldoc.mistake import DocumentError, Mistake, Place, shown
from monitor.yamldoc.node import MappingNode, Node, Scalar, SequenceNode, Style
from monitor.yamldoc.source import decode, place_at

DEEPEST = 64
MOST_NODES = 200_000
# libyaml, where PyYAML was built with it: twenty times as fast, and the parser that Go's YAML was ported from.
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_STRING = "tag:yaml.org,2002:str"
_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "seq", "map"))
_MERGE = "<<"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """
    A document that can be read as YAML; `root` is None when there is nothing in it.

    `mistakes` are those that do not keep the rest from being checked, such as a key that is given twice.
    """

    path: str
    text: str
    root: Node | None
    mistakes: tuple[Mistake, ...] = ()


class _InvalidError(Exception):
    def __init__(self, place: Place, what: str) -> None:
        super().__init__(what)
        self.place = place
        self.what = what


def read_document(data: bytes | str, path: str, *, first_only: bool = False, loader: Any = _LOADER) -> Document:
    """
    Return the tree of a YAML document.

    With `first_only` what follows the first document is not looked at, as Prometheus does with rule files;
    without, it is a mistake. `loader` is the PyYAML class whose parser is used.
    Raises DocumentError when there is no tree to return.
    """
    text = decode(data, path)
    composer = _Composer(yaml.parse(text, Loader=loader))
    try:
        root = composer.document(first_only=first_only)
    except _InvalidError as err:
        raise DocumentError([*composer.mistakes(path), Mistake(path, err.place, "", err.what)]) from err
    # Without libyaml PyYAML lets errors of `chr` through, for "\UFFFFFFFF".
    except (yaml.YAMLError, ValueError, OverflowError) as err:
        place, what = _described(err, text)
        raise DocumentError([*composer.mistakes(path), Mistake(path, place, "", what)]) from err
    return Document(path, text, root, tuple(composer.mistakes(path)))


def _described(err: Exception, text: str) -> tuple[Place, str]:
    """Return the place and the words for an error of the YAML parser."""
    if not isinstance(err, yaml.MarkedYAMLError) or err.problem_mark is None:
        return Place(1, 1), "is not valid YAML"
    place = _place(err.problem_mark)
    lines = text.split("\n")
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return Place(place.line, line.index("\t") + 1), "is not valid YAML: a tab cannot indent, use spaces"
    what = f"is not valid YAML: {err.problem}"
    if err.context and err.context_mark is not None:
        what += f" {err.context} that begins on line {err.context_mark.line + 1}"
    # The parser notices a missing bracket at the very end, which is a line that no editor shows.
    return place if place.line <= len(lines) else place_at(text, -1), what


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)


class _Composer:
    """
    Builds the tree from the parser's events. Raises _InvalidError and yaml.YAMLError.

    An event is Any: PyYAML's types do not say which event has which attributes.
    """

    def __init__(self, events: Iterator[Any]) -> None:
        self.faults: list[_InvalidError] = []
        self._events = events
        self._anchors: dict[str, Node] = {}
        self._sizes: dict[int, int] = {}
        self._count = 0

    def mistakes(self, path: str) -> list[Mistake]:
        return [Mistake(path, fault.place, "", fault.what) for fault in self.faults]

    def document(self, *, first_only: bool) -> Node | None:
        root: Node | None = None
        documents = 0
        for event in self._events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            documents += 1
            if documents > 1:
                raise _InvalidError(_place(event.start_mark), "a second document begins here; only one is allowed")
            root = self._node(next(self._events), 0)
            next(self._events)
            if first_only:
                break
        return None if isinstance(root, Scalar) and root.is_null else root

    def _node(self, event: Any, depth: int) -> Node:
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, place)
        before = self._count
        self._grow(1, place)
        if depth > DEEPEST:
            raise _InvalidError(place, f"is nested more than {DEEPEST} levels deep")
        node = self._built(event, place, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
            self._sizes[id(node)] = self._count - before
        return node

    def _built(self, event: Any, place: Place, depth: int) -> Node:
        if event.tag not in _TAGS and event.tag not in (None, "!"):
            self.faults.append(_InvalidError(place, f"the tag {shown(event.tag)} is not allowed"))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(MappingNode(place), depth)
        if isinstance(event, yaml.SequenceStartEvent):
            sequence = SequenceNode(place)
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                sequence.append(self._node(item, depth + 1))
            return sequence
        # The same: "\ud800" is no character, and nothing that holds it can be printed.
        if _SURROGATE.search(event.value):
            self.faults.append(_InvalidError(place, "holds half a surrogate pair"))
        style = Style(event.style or "")
        return Scalar(event.value, place, style, event.start_mark.index, style is Style.PLAIN and event.tag != _STRING)

    def _alias(self, event: Any, place: Place) -> Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            raise _InvalidError(place, f"the alias *{event.anchor} has no anchor before it")
        # The tree shares the node, but whoever walks the tree walks it again.
        self._grow(self._sizes[id(node)], place)
        return node

    def _grow(self, nodes: int, place: Place) -> None:
        self._count += nodes
        if self._count > MOST_NODES:
            raise _InvalidError(place, f"holds more than {MOST_NODES} values (aliases counted each time)")

    def _mapping(self, mapping: MappingNode, depth: int) -> MappingNode:
        defaults: list[MappingNode] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                self.faults.append(_InvalidError(key.place, "a key must be a text"))
            elif key.plain and key.text == _MERGE:
                defaults.extend(self._merged(value))
            elif key.text in mapping:
                first = mapping.key_places[key.text].line
                what = f"the key {shown(key.text)} is given twice (first on line {first})"
                self.faults.append(_InvalidError(key.place, what))
            else:
                mapping[key.text] = value
                mapping.key_places[key.text] = key.place
        for table in defaults:
            for name, value in table.items():
                if name not in mapping:
                    mapping[name] = value
                    mapping.key_places[name] = table.key_places[name]
        return mapping

    def _merged(self, value: Node) -> list[MappingNode]:
        tables = value if isinstance(value, SequenceNode) else [value]
        found = [table for table in tables if isinstance(table, MappingNode)]
        if len(found) != len(tables):
            self.faults.append(_InvalidError(value.place, 'the merge key "<<" takes a table or a list of tables'))
        return found
