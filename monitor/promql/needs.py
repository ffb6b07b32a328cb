"""
What there must be for an expression to find anything: a formula over its selectors.

It errs on one side only: an expression whose needs are not met finds nothing, whatever the values are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import TypeAlias

from monitor.model.labels import METRIC_NAME
from monitor.model.matcher import Matcher, MatchType
from monitor.promql.absent import Absent
from monitor.promql.binary import FilterWithScalar
from monitor.promql.invariant import Invariant
from monitor.promql.literal import Number, ToScalar, ToVector
from monitor.promql.node import Node, ScalarNode, StringNode
from monitor.promql.plan import Plan
from monitor.promql.range_selector import RangeSelector
from monitor.promql.selector import InstantSelector
from monitor.promql.sets import Sieve, Union


@dataclass(frozen=True, slots=True)
class Leaf:
    """A series that satisfies all of the matchers."""

    matchers: tuple[Matcher, ...]

    @property
    def name(self) -> str | None:
        """The metric name, where there is just one."""
        return next((m.value for m in self.matchers if m.name == METRIC_NAME and m.type is MatchType.EQUAL), None)

    def __str__(self) -> str:
        name, pairs = self.name, ", ".join(str(m) for m in self.matchers if m.name != METRIC_NAME or m.type != "=")
        return (name or "") + ("{" + pairs + "}" if pairs or name is None else "")


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part; of no parts it is always met."""

    parts: tuple["Need", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of the parts; of no parts it is never met."""

    parts: tuple["Need", ...] = ()


Need: TypeAlias = Leaf | AllOf | AnyOf
NOTHING: Need = AllOf()
NEVER: Need = AnyOf()


def needs(plan: Plan) -> Need:
    """Return what must be there for `plan` to find an element at all."""
    return _of(plan.root)


def leaves(need: Need) -> Iterator[Leaf]:
    """Yield the selectors of a formula, from left to right."""
    if isinstance(need, Leaf):
        yield need
    else:
        for part in need.parts:
            yield from leaves(part)


def all_of(parts: Iterable[Need]) -> Need:
    """Return the need for all `parts`, as simply as it can be said."""
    found: dict[Need, None] = {}
    for part in parts:
        found.update(dict.fromkeys(part.parts if isinstance(part, AllOf) else (part,)))
    if NEVER in found:
        return NEVER
    return next(iter(found)) if len(found) == 1 else AllOf(tuple(found))


def any_of(parts: Iterable[Need]) -> Need:
    """Return the need for one of `parts`, as simply as it can be said."""
    found: dict[Need, None] = {}
    for part in parts:
        found.update(dict.fromkeys(part.parts if isinstance(part, AnyOf) else (part,)))
    if NOTHING in found:
        return NOTHING
    return next(iter(found)) if len(found) == 1 else AnyOf(tuple(found))


def _of(node: Node) -> Need:
    match node:
        case InstantSelector() | RangeSelector():
            return Leaf(node.selection.matchers)
        case ScalarNode() | StringNode() | Absent() | ToVector():
            return NOTHING
        case Union():
            return any_of(map(_of, node.parts))
        case Sieve() if not node.present:
            return _of(node.parts[0])
        case FilterWithScalar():
            return _filtered(node)
        case _:
            return all_of(map(_of, node.parts))


def _filtered(node: FilterWithScalar) -> Need:
    left, right = node.parts
    vector, scalar = (right, left) if isinstance(left, ScalarNode) else (left, right)
    if isinstance(scalar, Number):
        return _kept(node, vector, scalar.number, vector_is_left=vector is left)
    # Without its vector a scalar is NaN, which only `!=` lets through.
    if isinstance(scalar, ToScalar) and not node.keeps(nan, nan):
        return all_of((_of(vector), _of(scalar.parts[0])))
    return _of(vector)


def _kept(comparison: FilterWithScalar, node: Node, number: float, *, vector_is_left: bool) -> Need:
    """Return what `comparison` needs to keep an element of `node`: a stand-in such as `or vector(0)` may never pass."""
    if isinstance(node, Invariant):
        return _kept(comparison, node.parts[0], number, vector_is_left=vector_is_left)
    if isinstance(node, Union):
        return any_of(_kept(comparison, part, number, vector_is_left=vector_is_left) for part in node.parts)
    if isinstance(node, ToVector) and isinstance(node.parts[0], Number):
        constant = node.parts[0].number
        sides = (constant, number) if vector_is_left else (number, constant)
        return NOTHING if comparison.keeps(*sides) else NEVER
    return _of(node)
