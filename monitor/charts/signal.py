"""What an alert's expression watches: the signal in its comparison, and the number that it is compared with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from monitor.model.instant import DAY
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher
from monitor.promql import Engine, PromqlError, Scalar, ValueType, parse
from monitor.promql.lex import Kind, Token, tokens
from monitor.storage.column import Column

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_FURTHER = frozenset(("and", "unless"))
_MATCHING = frozenset(("on", "ignoring"))


@dataclass(frozen=True, slots=True)
class Signal:
    """`expr` gives series with the labels that the alert's own expression finds; `threshold` is where it begins."""

    expr: str
    threshold: float


def came_of(alert: Labels, series: Labels) -> bool:
    """Say whether the alert with these labels came of the series with those."""
    return all(alert.value(name) == value for name, value in series if name != METRIC_NAME)


def sides(expr: str) -> tuple[str, ...]:
    """Return what is joined by `or`: each may have found an alert of this expression. One that is wrong has none."""
    try:
        parse(expr)
    except PromqlError:
        return ()
    return tuple(_sides_of(expr, _bare(tuple(tokens(expr)))))


def _sides_of(text: str, found: Sequence[Token]) -> Iterator[str]:
    begin = 0
    for token in _outside(found):
        if token.kind is Kind.NAME and token.text.lower() == "or":
            end = found.index(token)
            yield text[found[begin].start : token.start].strip()
            begin = end + 1
            if found[begin].text.lower() in _MATCHING:
                begin += 2 + _end(found[begin + 1 :])
    yield text[found[begin].start : found[-1].end]


def signal(expr: str) -> Signal | None:
    """
    Return the signal of an alert's expression, or None when it is no comparison with a number.

    Of what is joined by `and` or `unless` the first counts: it is what the alert has its labels and its value from.
    """
    try:
        parse(expr)
        return _compared(expr)
    except PromqlError:
        return None


def _compared(text: str) -> Signal | None:
    found = _bare(tuple(tokens(text)))
    outside = list(_outside(found))
    # Either side may have found it.
    if not found or any(token.text.lower() == "or" and token.kind is Kind.NAME for token in outside):
        return None
    further = next((one for one in outside if one.kind is Kind.NAME and one.text.lower() in _FURTHER), None)
    if further is not None:
        return _compared(text[found[0].start : further.start])
    # The last of several is the outermost.
    comparison = next((one for one in reversed(outside) if one.text in _COMPARISONS), None)
    if comparison is None:
        return None
    left, right = text[found[0].start : comparison.start], text[comparison.end : found[-1].end]
    return _against(left, right) or _against(right, left)


def _against(expr: str, number: str) -> Signal | None:
    try:
        threshold = _number(number)
        if threshold is not None and parse(expr).result_type is ValueType.VECTOR:
            return Signal(expr.strip(), threshold)
    except PromqlError:
        # `bool`, which is no part of an expression: such a comparison finds everything.
        return None
    return None


def _number(text: str) -> float | None:
    """Return what `text` is worth when it is a number at all times."""
    plan = parse(text)
    if plan.result_type is not ValueType.SCALAR or plan.selectors:
        return None
    values = [Engine(_Empty()).instant(plan, at).value for at in (0, DAY)]
    numbers = {value.value for value in values if isinstance(value, Scalar) and isfinite(value.value)}
    return numbers.pop() if len(numbers) == 1 else None


def _bare(found: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without parentheses around all of them."""
    while found and found[0].text == "(" and _end(found) == len(found) - 1:
        found = found[1:-1]
    return found


def _end(found: Sequence[Token]) -> int:
    """Return where the parenthesis ends that the first token opens."""
    depth = 0
    for index, token in enumerate(found):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if not depth:
            return index
    return len(found)


def _outside(found: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens that no parentheses, braces or brackets are around."""
    depth = 0
    for token in found:
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if not depth and token.kind in (Kind.NAME, Kind.OPERATOR):
            yield token


class _Empty:
    def select(self, matchers: Sequence[Matcher]) -> Sequence[Column]:
        """Return no series: a number reads none."""
        del matchers
        return ()
