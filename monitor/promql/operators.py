"""Binary operators: from the operator, its modifiers and its sides to a node."""

from typing import Any

import promql_parser as library

from monitor.promql.arithmetic import ARITHMETIC, COMPARISON, SETS
from monitor.promql.binary import (
    BetweenVectors,
    BoolBetweenVectors,
    BoolWithScalar,
    FilterBetweenVectors,
    FilterWithScalar,
    ScalarBinary,
    WithScalar,
)
from monitor.promql.error import refused
from monitor.promql.matching import Card, Matching
from monitor.promql.node import Node, ScalarNode, VectorNode
from monitor.promql.sets import Sieve, Union
from monitor.promql.signature import type_of


def _card(modifier: Any) -> Card:
    # The library's enumerations can be compared, but are no keys.
    if modifier.card == library.VectorMatchCardinality.ManyToOne:
        return Card.MANY_TO_ONE
    return Card.ONE_TO_MANY if modifier.card == library.VectorMatchCardinality.OneToMany else Card.ONE_TO_ONE


def binary(operator: str, left: Node, right: Node, modifier: Any) -> Node:
    """Return the node of a binary operator; `modifier` is the library's, or None. Raises PromqlError."""
    returns_bool = modifier is not None and modifier.return_bool
    if returns_bool and operator not in COMPARISON:
        raise refused("bool modifier can only be used on comparison operators")
    if modifier is not None and _fills(modifier):
        raise refused("fill modifiers are experimental in Prometheus 3 and not supported")
    for side in (left, right):
        if not isinstance(side, ScalarNode | VectorNode):
            raise refused(f"binary expression must contain only scalar and instant vector types, got {type_of(side)}")
    if isinstance(left, VectorNode) and isinstance(right, VectorNode):
        return _between(operator, left, right, _matching(modifier, operator), returns_bool=returns_bool)
    if modifier is not None and modifier.matching is not None and modifier.matching.labels:
        raise refused("vector matching only allowed between instant vectors")
    if operator in SETS:
        raise refused(f'set operator "{operator}" not allowed in binary scalar expression')
    return _with_scalar(operator, left, right, returns_bool=returns_bool)


def _fills(modifier: Any) -> bool:
    values = modifier.fill_values
    return values is not None and (values.lhs is not None or values.rhs is not None)


def _matching(modifier: Any, operator: str) -> Matching:
    if modifier is None:
        return Matching()
    on = modifier.matching is not None and modifier.matching.type == library.LabelModifierType.Include
    labels = frozenset(modifier.matching.labels if modifier.matching is not None else ())
    include = tuple(modifier.group_labels or ())
    card = _card(modifier)
    if operator in SETS and card is not Card.ONE_TO_ONE:
        raise refused(f'no grouping allowed for "{operator}" operation')
    for label in include:
        if on and label in labels:
            raise refused(f'label "{label}" must not occur in ON and GROUP clause at once')
    return Matching(labels, on=on, card=card, include=include)


def _between(operator: str, left: VectorNode, right: VectorNode, matching: Matching, *, returns_bool: bool) -> Node:
    if operator == "or":
        return Union(matching, left, right)
    if operator in SETS:
        return Sieve(matching, left, right, present=operator == "and")
    if operator in ARITHMETIC:
        return BetweenVectors(ARITHMETIC[operator], matching, left, right)
    kind = BoolBetweenVectors if returns_bool else FilterBetweenVectors
    return kind(_comparison(operator), matching, left, right)


def _with_scalar(operator: str, left: Node, right: Node, *, returns_bool: bool) -> Node:
    if operator in ARITHMETIC:
        operation = ARITHMETIC[operator]
        if isinstance(left, ScalarNode) and isinstance(right, ScalarNode):
            return ScalarBinary(operation, left, right)
        return WithScalar(operation, left, right)
    comparison = _comparison(operator)
    if isinstance(left, ScalarNode) and isinstance(right, ScalarNode):
        if not returns_bool:
            raise refused("comparisons between scalars must use BOOL modifier")
        return ScalarBinary(comparison, left, right)
    return (BoolWithScalar if returns_bool else FilterWithScalar)(comparison, left, right)


def _comparison(operator: str) -> Any:
    if operator not in COMPARISON:
        raise refused(f"operator {operator} is not supported")
    return COMPARISON[operator]
