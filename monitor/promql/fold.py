"""Ranges, steps and offsets that are computed become numbers: the parser library takes no other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from monitor.model.instant import format_duration
from monitor.promql.durations import Computed, Literal, Reader, checked, seconds
from monitor.promql.error import refused
from monitor.promql.lex import Kind, Token

# Less than a millisecond, of which nothing is left, but no zero.
_NOTHING = "0.0001"
# Words behind which an operand stands.
_NO_OPERAND = frozenset({"and", "or", "unless", "atan2", "bool", "group_left", "group_right"})
_GROUPINGS = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})


def fold(found: Sequence[Token]) -> tuple[Token, ...]:
    """
    Return the tokens, with one number, or a minus and a number, for each range, step and offset.

    Raises PromqlError for what is no duration, and for ranges and steps that are not above zero.
    """
    folded: list[Token] = []
    at = 0
    while at < len(found):
        folded.append(found[at])
        at += 1
        if folded[-1].text == "[":
            at = _brackets(found, at, folded)
        elif _is_offset(found, at - 1):
            at = _offset(found, at, folded)
    return tuple(folded)


def _brackets(found: Sequence[Token], start: int, folded: list[Token]) -> int:
    """Add the range and the step that stand at `start`, and return the index of the bracket behind them."""
    reader = Reader(found, start, "subquery or range selector")
    folded += _positive(found, start, reader)
    if reader.word != ":":
        _check_closed(reader, "subquery or range", '":" or "]"')
        return reader.at
    folded.append(found[reader.at])
    reader = Reader(found, reader.at + 1, "subquery selector")
    if reader.word != "]":
        (step,) = _positive(found, reader.at, reader)
        # Computed, and below a millisecond: there that is no step, and the default holds.
        folded.append(replace(step, kind=Kind.OTHER, text="") if step.text.strip() == _NOTHING else step)
        _check_closed(reader, "subquery selector", '"]"')
    return reader.at


def _check_closed(reader: Reader, place: str, expected: str) -> None:
    if reader.word != "]":
        raise reader.unexpected(place, expected)


def _positive(found: Sequence[Token], start: int, reader: Reader) -> Iterator[Token]:
    tree = reader.expression()
    value = checked(seconds(tree), found[start].position)
    if value <= 0:
        raise refused("duration must be greater than 0", found[start].position)
    return _tokens(found[start : reader.at], tree, value)


def _is_offset(found: Sequence[Token], at: int) -> bool:
    """Say whether a word is the modifier, which stands behind a selector; elsewhere it is a name."""
    if at == 0 or found[at].text.lower() != "offset":
        return False
    before = found[at - 1]
    if before.kind is Kind.CLOSE:
        return not _closes_grouping(found, at - 1)
    return before.kind is Kind.NUMBER or (before.kind is Kind.NAME and before.text.lower() not in _NO_OPERAND)


def _closes_grouping(found: Sequence[Token], closing: int) -> bool:
    """Say whether a parenthesis is that of `on (a, b)` and the like; behind it stands an operand."""
    at = closing - 1
    while at > 0 and found[at].kind not in (Kind.OPEN, Kind.CLOSE):
        at -= 1
    return found[closing].text == ")" and found[at].text == "(" and found[at - 1].text.lower() in _GROUPINGS


def _offset(found: Sequence[Token], start: int, folded: list[Token]) -> int:
    reader = Reader(found, start, "offset")
    tree = reader.offset()
    folded += _tokens(found[start : reader.at], tree, checked(seconds(tree), found[start].position))
    return reader.at


def _tokens(written: Sequence[Token], tree: Computed, value: float) -> Iterator[Token]:
    """Yield what stands for `written`, in its place."""
    first, end = written[0], written[-1].end
    if value < 0:
        yield Token(Kind.OPERATOR, "-", first.start, first.start, first.position)
    # With blanks around, which may have been parentheses.
    yield Token(Kind.NUMBER, f" {_text(tree, abs(value))} ", first.start, end, first.position)


def _text(tree: Computed, value: float) -> str:
    # What is computed is cut to milliseconds, what is written is rounded to nanoseconds.
    milliseconds = int(value * 1000)
    if isinstance(tree, Literal) and value * 1000 != milliseconds:
        return f"{value:.9f}"
    # The library counts milliseconds in 32 bits, so days and hours are told too.
    return format_duration(milliseconds) if milliseconds else _NOTHING
