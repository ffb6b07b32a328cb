"""Where the calls of an expression and their arguments stand: the parser library does not tell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monitor.promql.lex import Kind, Position, Token

AGGREGATIONS = frozenset(
    {
        "sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "topk", "bottomk", "count_values", "quantile",
        "limitk", "limit_ratio",
    }
)  # fmt: skip
# Words that may stand before a parenthesis and are no calls.
_NO_CALL = frozenset(
    {
        "by", "without", "on", "ignoring", "group_left", "group_right", "bool", "and", "or", "unless", "atan2",
        "offset", "fill", "fill_left", "fill_right",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a call, and of the first token of each of its arguments."""

    name: str
    position: Position
    arguments: tuple[Position, ...]

    def argument(self, index: int) -> Position:
        """Return the place of an argument, or of the call where the argument is left out."""
        return self.arguments[index] if index < len(self.arguments) else self.position


def sites(found: Sequence[Token]) -> Iterator[Site]:
    """Yield the calls and aggregations in the order of their names, which is the order of a walk down the tree."""
    for index, token in enumerate(found[:-1]):
        if token.kind is not Kind.NAME or token.text.lower() in _NO_CALL:
            continue
        opening = index + 1
        if token.text.lower() in AGGREGATIONS and found[opening].text.lower() in ("by", "without"):
            opening = _after_group(found, opening + 1)
        after_at = index > 0 and found[index - 1].text == "@"
        if opening < len(found) and found[opening].text == "(" and not after_at:
            yield Site(token.text, token.position, tuple(_arguments(found, opening)))


def _after_group(found: Sequence[Token], opening: int) -> int:
    at = opening
    while at < len(found) and found[at].text != ")":
        at += 1
    return at + 1


def _arguments(found: Sequence[Token], opening: int) -> Iterator[Position]:
    depth, fresh = 1, True
    for token in found[opening + 1 :]:
        if token.kind is Kind.CLOSE:
            depth -= 1
            if depth == 0:
                return
        if fresh:
            yield token.position
        fresh = depth == 1 and token.kind is Kind.COMMA
        depth += token.kind is Kind.OPEN
