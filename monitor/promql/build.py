"""From the parser library's tree to the nodes of a plan."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import promql_parser as library

from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher
from monitor.promql.binary import Negation, ScalarNegation
from monitor.promql.error import refused
from monitor.promql.functions import FUNCTIONS
from monitor.promql.grouped import aggregation
from monitor.promql.invariant import Invariant
from monitor.promql.lex import Token
from monitor.promql.literal import Number
from monitor.promql.matchers import match_types, selected
from monitor.promql.node import Node, ScalarNode, StringNode, VectorNode
from monitor.promql.operators import binary
from monitor.promql.plan import Selector
from monitor.promql.range_selector import RangeSelector
from monitor.promql.run import LOOKBACK
from monitor.promql.selector import Anchor, InstantSelector, Selection, Shift
from monitor.promql.signature import Arguments, type_of
from monitor.promql.sites import Site, sites
from monitor.promql.subquery import Subquery
from monitor.promql.values import at_modifiers, milliseconds


class Builder:
    """
    Builds the nodes of one expression, and notes its selectors.

    The library's tree has no places; those of calls, the times of `@` and the types of matchers come from the tokens,
    in the same order.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.selectors: list[Selector] = []
        self._sites = deque(sites(tokens))
        self._at = deque(at_modifiers(tokens))
        self._match_types = deque(match_types(tokens))
        # What the subqueries around the present place add to its reach, and whether one of them has `@`.
        self._around: Duration = 0
        self._fixed = False
        self._builders: dict[type, Callable[[Any], Node]] = {
            library.NumberLiteral: lambda tree: Number(tree.val),
            library.StringLiteral: lambda tree: StringNode(tree.val),
            library.ParenExpr: lambda tree: self.build(tree.expr),
            library.VectorSelector: self._instant_selector,
            library.MatrixSelector: self._range_selector,
            library.SubqueryExpr: self._subquery,
            library.UnaryExpr: self._negation,
            library.BinaryExpr: self._binary,
            library.AggregateExpr: self._aggregation,
            library.Call: self._call,
        }

    def build(self, tree: Any) -> Node:
        """Return the node of a part of the library's tree. Raises PromqlError."""
        builder = self._builders.get(type(tree))
        if builder is None:
            raise refused(f"{type(tree).__name__} is not supported")
        node = builder(tree)
        if isinstance(node, VectorNode) and not node.moving and not isinstance(node, InstantSelector):
            return Invariant(node)
        return node

    def _instant_selector(self, tree: Any) -> Node:
        shift = self._shift(tree)
        matchers = selected(tree, self._match_types)
        self._note(matchers, None, shift)
        return InstantSelector(Selection(matchers), shift)

    def _range_selector(self, tree: Any) -> Node:
        shift = self._shift(tree.vector_selector)
        matchers = selected(tree.vector_selector, self._match_types)
        range_ = _positive(tree.range)
        self._note(matchers, range_, shift)
        return RangeSelector(Selection(matchers), shift, range_)

    def _subquery(self, tree: Any) -> Node:
        around, fixed = self._around, self._fixed
        range_ = _positive(tree.range)
        self._around += range_ + (milliseconds(tree.offset) if tree.offset is not None else 0)
        self._fixed = fixed or tree.at is not None
        of = self.build(tree.expr)
        self._around, self._fixed = around, fixed
        shift = self._shift(tree)
        if not isinstance(of, VectorNode):
            raise refused(f"subquery is only allowed on instant vector, got {type_of(of)} instead")
        step = None if tree.step is None else _positive(tree.step)
        return Subquery(of, shift, range_, step)

    def _negation(self, tree: Any) -> Node:
        of = self.build(tree.expr)
        if isinstance(of, VectorNode):
            return Negation(of)
        if isinstance(of, ScalarNode):
            return ScalarNegation(of)
        raise refused(
            f"unary expression only allowed on expressions of type scalar or instant vector, got {type_of(of)}"
        )

    def _binary(self, tree: Any) -> Node:
        left = self.build(tree.lhs)
        return binary(str(tree.op), left, self.build(tree.rhs), tree.modifier)

    def _aggregation(self, tree: Any) -> Node:
        name = str(tree.op)
        site = self._site(name)
        parts = [self.build(part) for part in (tree.param, tree.expr) if part is not None]
        return aggregation(name, tree.modifier, Arguments(site, parts))

    def _call(self, tree: Any) -> Node:
        name = tree.func.name
        site = self._site(name)
        builder = FUNCTIONS.get(name)
        if builder is None:
            raise refused(f"function {name}() is experimental in Prometheus 3 and not supported", site.position)
        return builder(Arguments(site, [self.build(part) for part in tree.args]))

    def _site(self, name: str) -> Site:
        site = self._sites.popleft() if self._sites else None
        if site is None or site.name.lower() != name.lower():
            # The tokens and the tree disagree, which no expression is known to cause: an error, and no wrong place.
            raise refused(f"cannot find the place of {name}() in the expression")
        return site

    def _shift(self, tree: Any) -> Shift:
        at: Instant | Anchor | None = self._at.popleft() if tree.at is not None else None
        return Shift(milliseconds(tree.offset) if tree.offset is not None else 0, at)

    def _note(self, matchers: tuple[Matcher, ...], range_: Duration | None, shift: Shift) -> None:
        reach = max(0, self._around + shift.offset + (LOOKBACK if range_ is None else range_))
        self.selectors.append(Selector(matchers, range_, shift.offset, reach, fixed=self._fixed or shift.fixed))


def _positive(duration: timedelta) -> Duration:
    if not duration:
        raise refused("duration must be greater than 0")
    return milliseconds(duration)
