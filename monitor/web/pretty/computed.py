"""Durations that are computed, as Prometheus writes them."""

from monitor.promql.durations import Computed, Literal, Negative, Operation, Parentheses
from monitor.web.pretty.words import duration, number_text


def computed(tree: Computed) -> str:
    """Return a range, a step or an offset; a number alone is written as a duration."""
    return duration(tree.seconds) if isinstance(tree, Literal) else _part(tree)


def computed_offset(tree: Computed) -> str:
    """Return an offset, whose operators stand in parentheses: without them they would not belong to it."""
    signed = tree.of if isinstance(tree, Negative) else tree
    return f"({_part(tree)})" if isinstance(signed, Operation | Negative) else computed(tree)


def _part(tree: Computed) -> str:
    if isinstance(tree, Literal):
        return duration(tree.seconds) if tree.is_duration else number_text(tree.seconds)
    if isinstance(tree, Negative):
        return f"-{_part(tree.of)}"
    if isinstance(tree, Parentheses):
        return f"({_part(tree.of)})"
    return f"{_base(tree)} {tree.operator.text} {_part(tree.right)}"


def _base(tree: Operation) -> str:
    # The power is taken before a sign: a negative base keeps its parentheses.
    left = _part(tree.left)
    return f"({left})" if tree.operator.text == "^" and left.startswith("-") else left
