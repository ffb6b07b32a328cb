"""Collects the mistakes of one document while its sections are read."""

from collections.abc import Callable
from keyword import iskeyword
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from monitor.yamldoc.compose import Document
from monitor.yamldoc.mistake import DocumentError, Mistake, Place, shown, suggestion
from monitor.yamldoc.node import Loc, MappingNode, Node, Scalar, children, find, place_of
from monitor.yamldoc.section import ProblemsError, Reading, Section

AnySection = TypeVar("AnySection", bound=Section)

_SHAPES = {
    "dict_type": "must be a table (key: value)",
    "model_type": "must be a table (key: value)",
    "model_attributes_type": "must be a table (key: value)",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
}


class Report:
    """
    The mistakes of `document`. `where` names the part of it that a path from the root lies in.

    Not a value: the one thing here that is filled step by step.
    """

    def __init__(self, document: Document, where: Callable[[Node | None, Loc], str]) -> None:
        self.document = document
        self.mistakes: list[Mistake] = list(document.mistakes)
        self._where = where

    def add(self, loc: Loc, what: str, *, meant: str = "", warning: bool = False, key: bool = False) -> None:
        """Note a mistake in the value at `loc`, or with `key` in the key itself."""
        self.add_at(place_of(self.document.root, loc, key=key), loc, what, meant=meant, warning=warning)

    def add_at(self, place: Place, loc: Loc, what: str, *, meant: str = "", warning: bool = False) -> None:
        where = self._where(self.document.root, loc)
        self.mistakes.append(Mistake(self.document.path, place, where, what, meant, warning=warning))

    def raise_if_wrong(self) -> None:
        """Raise DocumentError when there is more than warnings."""
        if any(not mistake.warning for mistake in self.mistakes):
            raise DocumentError(self.mistakes)

    def read(self, section: type[AnySection], loc: Loc = ()) -> AnySection | None:
        """
        Return the section at `loc`, or None when it has mistakes; they are noted.

        A section without content is one in which everything is left out.
        """
        node = find(self.document.root, loc)
        if node is None or (isinstance(node, Scalar) and node.is_null):
            node = MappingNode(place_of(self.document.root, loc))
        reading = Reading(Path(self.document.path).parent)
        try:
            return section.model_validate(node, context=reading)
        except ValidationError as err:
            for details in err.errors(include_url=False, include_input=False):
                self._add_details(loc, details)
            return None
        finally:
            paths = _paths(node, loc) if reading.unknown else {}
            for mapping, key, owner in reading.unknown:
                self._add_unknown(paths[id(mapping)], key, owner)

    def _add_details(self, start: Loc, details: ErrorDetails) -> None:
        inside = tuple(_key(step) for step in details["loc"] if step != "[key]")
        loc = (*start, *inside)
        problem = details.get("ctx", {}).get("error")
        if isinstance(problem, ProblemsError):
            for name, what in problem.problems:
                self.add((*loc, _key(name)), what)
        elif details["type"] == "missing":
            self.add(loc[:-1], f"{shown(str(loc[-1]))} must be set")
        else:
            what = str(problem) if problem is not None else _SHAPES.get(details["type"], details["msg"])
            is_key = "[key]" in details["loc"]
            self.add(loc, _named(inside[:-1] if is_key else inside, what), key=is_key)

    def _add_unknown(self, loc: Loc, key: str, owner: type[Section]) -> None:
        if key in owner.not_yet:
            hint = f": {owner.not_yet[key]}" if owner.not_yet[key] else " yet"
            self.add((*loc, key), f"{shown(key)} is not supported{hint}", key=True)
        else:
            meant = suggestion(key, owner.fields_by_key())
            self.add((*loc, key), f"unknown field {shown(key)}", meant=meant, key=True)


def _key(step: str | int) -> str | int:
    """Return the key of a field; the field of a key that is a Python keyword has an underscore behind it."""
    return step[:-1] if isinstance(step, str) and step.endswith("_") and iskeyword(step[:-1]) else step


def _named(inside: Loc, what: str) -> str:
    """Put the name of the setting before what is wrong with its value: `tls_config.ca_file`, `targets`."""
    names: list[str] = []
    for step in reversed(inside):
        if isinstance(step, str):
            names.insert(0, step)
        elif names:
            break
    return f"{'.'.join(names)}: {what}" if names else what


def _paths(node: Node, loc: Loc) -> dict[int, Loc]:
    """Return the path of every table in and below `node`, by the identity of the table."""
    found: dict[int, Loc] = {id(node): loc} if isinstance(node, MappingNode) else {}
    for step, child in children(node):
        found.update(_paths(child, (*loc, step)))
    return found
