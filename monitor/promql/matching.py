"""
Which element of one side of an operator meets which of the other, and what the result is called.

reference: Prometheus 3.5, promql/engine.go VectorBinop, resultMetric, signatureFunc. The check for a second match on
the "many" side is that of 3.9, which does not depend on the values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql.error import PromqlError
from monitor.promql.vector import Series


class Card(Enum):
    """How many elements of a side may meet one of the other."""

    ONE_TO_ONE = auto()
    MANY_TO_ONE = auto()
    ONE_TO_MANY = auto()


@dataclass(frozen=True, slots=True)
class Matching:
    """`on (labels)` or `ignoring (labels)`, and `group_left (include)` or `group_right (include)`."""

    labels: frozenset[str] = frozenset()
    on: bool = False
    card: Card = Card.ONE_TO_ONE
    include: tuple[str, ...] = ()

    def signature(self, labels: Labels) -> Labels:
        """Return what must be equal on both sides."""
        if self.on:
            return Labels([pair for pair in labels if pair[0] in self.labels])
        return Labels([pair for pair in labels if pair[0] not in self.labels and pair[0] != METRIC_NAME])

    def result(self, many: Labels, one: Labels, *, named: bool) -> Labels:
        """Return the labels of the result of `many` and `one`; `named`: the metric name stays where `on` keeps it."""
        pairs = dict(many)
        if not named:
            pairs.pop(METRIC_NAME, None)
        if self.card is Card.ONE_TO_ONE:
            pairs = {name: value for name, value in pairs.items() if (name in self.labels) is self.on}
        for name in self.include:
            pairs[name] = one.value(name)
        return Labels.of(pairs)


class Pairs:
    """
    The pairs that meet: the indices of their left and right elements, and their results' labels.

    `unique` says that no two results have the same labels, whatever is filtered.
    """

    __slots__ = ("left", "result", "right", "unique")

    def __init__(self, left: Sequence[int], right: Sequence[int], result: Series) -> None:
        self.left = left
        self.right = right
        self.result = result
        self.unique = len(set(result)) == len(result)


def pair(matching: Matching, left: Series, right: Series, *, named: bool) -> Pairs:
    """Return the pairs that meet. Raises PromqlError when an element meets more than one and must not."""
    swapped = matching.card is Card.ONE_TO_MANY
    many, one = (right, left) if swapped else (left, right)
    ones = _ones(matching, one)
    many_at: list[int] = []
    one_at: list[int] = []
    taken: set[Labels] = set()
    for index, labels in enumerate(many):
        signature = matching.signature(labels)
        partner = ones.get(signature)
        if partner is None:
            continue
        if matching.card is Card.ONE_TO_ONE and signature in taken:
            raise PromqlError(
                "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
            )
        taken.add(signature)
        many_at.append(index)
        one_at.append(partner)
    result = tuple([matching.result(many[m], one[o], named=named) for m, o in zip(many_at, one_at, strict=True)])
    return Pairs(one_at, many_at, result) if swapped else Pairs(many_at, one_at, result)


def _ones(matching: Matching, one: Series) -> dict[Labels, int]:
    ones: dict[Labels, int] = {}
    for index, labels in enumerate(one):
        signature = matching.signature(labels)
        first = ones.setdefault(signature, index)
        if first != index:
            side = "left" if matching.card is Card.ONE_TO_MANY else "right"
            raise PromqlError(
                f"found duplicate series for the match group {plain(signature)} on the {side} hand-side of "
                f"the operation: [{plain(one[first])}, {plain(labels)}];many-to-many matching not allowed: "
                "matching labels must be unique on one side"
            )
    return ones


def plain(labels: Labels) -> str:
    """Return the labels as Go's labels.Labels prints them, the name among the others."""
    return "{" + ", ".join(f'{name}="{value}"' for name, value in labels) + "}"
