"""Walks through the syntax tree of an expression. An expression that is no PromQL is not for this part."""

from collections.abc import Iterator
from typing import Any

import promql_parser

COMPARISONS = frozenset((">", "<", ">=", "<=", "==", "!="))
# What asks whether there is a series, and not for its value.
ASKING = frozenset(("and", "unless", "count", "group", "absent", "absent_over_time", "present_over_time"))
_CHILDREN = ("lhs", "rhs", "expr", "vector_selector")


def walk(expr: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """
    Yield every node with the names of the functions and aggregations around it, the nearest last.

    "and" and "unless" stand for the right side of one, where only counts what there is.
    """
    yield from below(promql_parser.parse(expr))


def below(node: Any, inside: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield `node` and every node below it, as `walk` does."""
    yield node, inside
    around = (*inside, *_own_name(node))
    for child in _CHILDREN:
        if getattr(node, child, None) is not None:
            asked = child == "rhs" and str(node.op) in ASKING
            yield from below(getattr(node, child), (*around, str(node.op)) if asked else around)
    for argument in getattr(node, "args", None) or ():
        yield from below(argument, around)


def _own_name(node: Any) -> Iterator[str]:
    if is_a(node, "Call"):
        yield node.func.name
    elif is_a(node, "AggregateExpr"):
        yield str(node.op)


def is_a(node: Any, kind: str) -> bool:
    """Say whether a node is of a kind of promql-parser, by its name."""
    return type(node).__name__ == kind


def selectors(expr: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the metric name of every selector that has one, with what is around it."""
    for node, inside in walk(expr):
        if is_a(node, "VectorSelector") and node.name:
            yield node.name, inside


def names(expr: str) -> set[str]:
    """Return the metric names that an expression selects."""
    return {name for name, _ in selectors(expr)}


def numbers(expr: str) -> set[float]:
    """Return the numbers in an expression."""
    return {node.val for node, _ in walk(expr) if is_a(node, "NumberLiteral")}


def comparisons(expr: str) -> Iterator[tuple[set[str], str, float]]:
    """Yield, for each comparison with a number, the names whose values are on its left, its operator and the number."""
    for node, _ in walk(expr):
        if is_a(node, "BinaryExpr") and str(node.op) in COMPARISONS and is_a(node.rhs, "NumberLiteral"):
            yield _valued(node.lhs), str(node.op), node.rhs.val


def _valued(node: Any) -> set[str]:
    """Return the names that `node` selects for their values; how many samples there are is another thing."""
    found = ((inner, inside) for inner, inside in below(node) if is_a(inner, "VectorSelector"))
    return {inner.name for inner, inside in found if inner.name and "count_over_time" not in inside}
