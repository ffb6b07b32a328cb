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
    """The place of a call, and of each argument: its first token, and the first inside parentheses around it."""

    name: str
    position: Position
    arguments: tuple[tuple[Token, Token], ...]

    def argument(self, index: int, *, inside: bool) -> Position:
        """Return the place of an argument, or of the call where the argument is left out."""
        return self.arguments[index][inside].position if index < len(self.arguments) else self.position

    def has_plus(self, index: int) -> bool:
        """Say whether an argument starts with a plus, of which the library's tree knows nothing."""
        return index < len(self.arguments) and self.arguments[index][1].text == "+"


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


def _arguments(found: Sequence[Token], opening: int) -> Iterator[tuple[Token, Token]]:
    closing = _closing(found, opening)
    start = opening + 1
    while start < closing:
        end = _argument_end(found, start, closing)
        yield found[start], _unwrapped(found, start, end)
        start = end + 1


def _closing(found: Sequence[Token], opening: int) -> int:
    """Return the index of the bracket that closes the one at `opening`, or of the end."""
    depth = 0
    for index in range(opening, len(found)):
        depth += (found[index].kind is Kind.OPEN) - (found[index].kind is Kind.CLOSE)
        if depth == 0:
            return index
    return len(found)


def _argument_end(found: Sequence[Token], start: int, closing: int) -> int:
    index = start
    while index < closing and found[index].kind is not Kind.COMMA:
        index = _closing(found, index) + 1 if found[index].kind is Kind.OPEN else index + 1
    return min(index, closing)


def _unwrapped(found: Sequence[Token], start: int, end: int) -> Token:
    """Return the first token of an argument, inside the parentheses around all of it."""
    while found[start].text == "(" and end - start > 1 and _closing(found, start) == end - 1:
        start, end = start + 1, end - 1
    return found[start]
