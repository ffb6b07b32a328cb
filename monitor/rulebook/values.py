"""
The values that the rules are built with: the defaults that ship, and what a user's file changes in them.

The file of defaults is the schema: a key that it lacks is unknown, and a value is read as its default is written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, PlainValidator, create_model

from monitor.rulebook.kinds import kind_of
from monitor.rulebook.slo import objective_problems, values_problems
from monitor.shipped import rules_folder
from monitor.yamldoc.compose import Document, read_document
from monitor.yamldoc.mistake import NOWHERE, DocumentError, Mistake, Place
from monitor.yamldoc.node import Loc, MappingNode, Node, Scalar, SequenceNode, Style
from monitor.yamldoc.report import Report
from monitor.yamldoc.section import Reading, Section
from monitor.yamldoc.source import read_bytes

DEFAULTS = "source/values.yaml"
# What a table may not say as a whole, by its key; "Values" is the file itself.
_CHECKS: dict[str, Callable[[Section], Iterator[tuple[str, str]]]] = {
    "Values": values_problems,
    "slos": objective_problems,
}


class Values(Section):
    """A table of values; its fields are those of the defaults."""

    # Keys may be called model_…
    model_config = ConfigDict(protected_namespaces=())

    def problems(self) -> Iterator[tuple[str, str]]:
        check = _CHECKS.get(type(self).__name__)
        yield from check(self) if check is not None else ()

    def with_(self, other: "Values") -> "Values":
        """Return these values with those that are set in `other`."""
        changes: dict[str, Any] = {}
        for name in other.model_fields_set:
            mine, given = getattr(self, name), getattr(other, name)
            changes[name] = mine.with_(given) if isinstance(mine, Values) else given
        return self.model_copy(update=changes)


def defaults() -> Values:
    """Return the values that ship. Raises DocumentError."""
    return _schema()()


def read_values(path: Path | None = None, settings: Iterable[str] = ()) -> Values:
    """
    Return the defaults, changed by the file at `path`, then by `settings` (`alerts.VLLMRequestsWaiting.waiting=20`).

    Raises DocumentError with all mistakes of the file and of the settings.
    """
    values = defaults()
    mistakes: list[Mistake] = []
    sources = [partial(_from_file, path)] if path is not None else []
    for source in [*sources, *(partial(_from_setting, setting) for setting in settings)]:
        try:
            values = values.with_(source())
        except DocumentError as err:
            mistakes.extend(err.mistakes)
    # Objectives of the file and windows of a setting have not been seen together yet.
    mistakes = mistakes or [Mistake("all together", NOWHERE, *problem) for problem in values.problems()]
    if mistakes:
        raise DocumentError(mistakes)
    return values


def _from_file(path: Path) -> Values:
    return _read(read_document(read_bytes(path), str(path)))


def _from_setting(setting: str) -> Values:
    """Return the values that `a.b=value` stands for; its mistakes have no place but the setting itself."""
    name = f"--set {setting}"
    key, equals, value = setting.partition("=")
    keys = key.strip().split(".")
    if not equals or not all(keys):
        raise DocumentError([Mistake(name, NOWHERE, "", "write key=value, as in alerts.VLLMTargetDown.for=2m")])
    try:
        document = read_document(f"{value.strip()}\n", name)
        return _read(replace(document, root=_nested(keys, document.root)))
    except DocumentError as err:
        raise DocumentError(replace(mistake, place=NOWHERE) for mistake in err.mistakes) from err


def _nested(keys: Sequence[str], value: Node | None) -> Node:
    node = value if value is not None else _empty(NOWHERE)
    for key in reversed(keys):
        table = MappingNode(NOWHERE)
        table[key], table.key_places[key] = node, NOWHERE
        node = table
    return node


def _read(document: Document) -> Values:
    report = Report(document, _nowhere)
    read = report.read(_schema())
    report.raise_if_wrong()
    return read if read is not None else defaults()


def _nowhere(_root: Node | None, _loc: Loc) -> str:
    return ""


@cache
def _schema() -> type[Values]:
    path = rules_folder() / DEFAULTS
    document = read_document(read_bytes(path), str(path))
    if document.mistakes or not isinstance(document.root, MappingNode):
        raise DocumentError(document.mistakes or [Mistake(str(path), NOWHERE, "", "is not a table")])
    return _section("Values", document.root)


def _section(name: str, table: MappingNode) -> type[Values]:
    fields: dict[str, Any] = {}
    for key, node in table.items():
        fields[f"{key}_" if iskeyword(key) else key] = _field(key, node)
    return create_model(name, __base__=Values, **fields)


def _field(key: str, node: Node) -> tuple[Any, Any]:
    """Return the type and the default of a field; the first item of a list says what all of them are."""
    if isinstance(node, MappingNode):
        section = _section(key, node)
        return section, Field(default_factory=section)
    if isinstance(node, SequenceNode):
        kind, _ = _field(key, node[0] if node else _empty(node.place))
        return tuple.__class_getitem__((kind, ...)), tuple(_default(kind, item) for item in node)
    read = kind_of(key, node)
    return Annotated[Any, PlainValidator(read)], read(node)


def _default(kind: Any, node: Node) -> Any:
    if isinstance(node, MappingNode):
        return kind.model_validate(node, context=Reading(Path()))
    return kind.__metadata__[0].func(node)


def _empty(place: Place) -> Scalar:
    return Scalar("", place, Style.PLAIN, 0, plain=True)
