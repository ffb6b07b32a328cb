"""Which expressions a template asks for, as far as its text says it: what they read must be there in time."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise

from monitor.template.nodes import Command, Constant, Function, Pipeline
from monitor.template.template import Template

_VERB = re.compile(r"%[-+# 0-9.]*([a-zA-Z%])")
# What printf may fill in where a verb stands: a quoted value, a part of one or a duration, and else a number.
_FILLINGS = {"q": '"0"', "s": "1m", "%": "%"}


def queries(template: Template) -> Iterator[str | None]:
    """
    Yield the expression of each `query`; None for one that is put together in a way that cannot be followed.

    Followed are `query "…"`, `"…" | query`, and `printf "…" … | query` with or without brackets; what printf fills in
    is taken to be no name of a metric.
    """
    for node in _nodes(template.tree):
        if isinstance(node, Pipeline):
            for before, command in pairwise((None, *node.commands)):
                if command is not None and _calls(command, "query"):
                    yield _expression(command.arguments[1] if len(command.arguments) > 1 else before)


def _expression(operand: object) -> str | None:
    """Return the text of what `query` is given."""
    match operand:
        case Constant(_, str(text)):
            return text
        case Command(_, (only,)):
            return _expression(only)
        case Command(_, (_, Constant(_, str(text)), *_)) if _calls(operand, "printf"):
            filled = _VERB.sub(lambda verb: _FILLINGS.get(verb[1], "0"), text)
            return filled if _VERB.sub("", text).strip() else None
        case Pipeline(_, (only,)):
            return _expression(only)
    return None


def _calls(command: Command, name: str) -> bool:
    first = command.arguments[0]
    return isinstance(first, Function) and first.name == name


def _nodes(value: object) -> Iterator[object]:
    """Yield every node in and below `value`."""
    if isinstance(value, tuple):
        children: Iterator[object] = iter(value)
    elif isinstance(value, dict):
        children = iter(value.values())
    elif is_dataclass(value):
        yield value
        children = (getattr(value, field.name) for field in fields(value))
    else:
        return
    for child in children:
        yield from _nodes(child)
