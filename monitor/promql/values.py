"""Numbers and durations as an expression writes them, in the units of the program."""

import math
import re
from collections.abc import Sequence
from datetime import timedelta

from monitor.model.instant import Duration, Instant, parse_duration
from monitor.promql.error import refused
from monitor.promql.lex import Kind, Position, Token
from monitor.promql.selector import Anchor

_MOST = 2**63
OCTAL = re.compile(r"0[0-7]+")
# Between digits, and behind the x of a hexadecimal number.
_UNDERSCORED = re.compile(
    r"[0-9]+(_[0-9]+)*(\.([0-9]+(_[0-9]+)*)?)?([eE][+-]?[0-9]+(_[0-9]+)*)?"
    r"|\.[0-9]+(_[0-9]+)*([eE][+-]?[0-9]+(_[0-9]+)*)?"
    r"|0[xX](_?[0-9a-fA-F])+"
)


def milliseconds(duration: timedelta) -> Duration:
    """Return a duration in whole milliseconds, cut towards zero as Prometheus cuts it."""
    microseconds = duration // timedelta(microseconds=1)
    return -(-microseconds // 1000) if microseconds < 0 else microseconds // 1000


def at_modifiers(found: Sequence[Token]) -> list[Instant | Anchor]:
    """
    Return what each `@` of the expression names, in order.

    The library tells it too, but panics on a time before 1970. Raises PromqlError.
    """
    return [_anchor(found[index + 1 :]) for index, token in enumerate(found) if token.text == "@"]


def _anchor(rest: Sequence[Token]) -> Instant | Anchor:
    sign = 1.0
    for token in rest:
        if token.text in ("+", "-"):
            sign = -sign if token.text == "-" else sign
        elif token.text.lower() in ("start", "end"):
            return Anchor.START if token.text.lower() == "start" else Anchor.END
        else:
            return _instant(sign * number(token), token.position)
    raise refused("no time follows @")


def _instant(seconds: float, position: Position) -> Instant:
    if not abs(seconds) * 1000 < _MOST:
        raise refused(f"timestamp out of bounds for @ modifier: {seconds:f}", position)
    # Half a millisecond is rounded away from zero.
    return int(math.copysign(math.floor(abs(seconds) * 1000 + 0.5), seconds))


def number(token: Token) -> float:
    """Return the value of a number, or of a duration in seconds. Raises PromqlError."""
    if token.text.lower() in ("inf", "nan"):
        return float(token.text)
    if token.kind is not Kind.NUMBER:
        raise refused(f"{token.text!r} is not a number", token.position)
    try:
        return _value(token.text)
    except (ValueError, OverflowError) as err:
        raise refused(f'bad number or duration syntax: "{token.text}"', token.position) from err


def _value(text: str) -> float:
    if "_" in text and not _UNDERSCORED.fullmatch(text):
        raise ValueError("an underscore in the wrong place")
    plain = text.replace("_", "")
    is_duration = plain[-1].isalpha() and not plain.lower().startswith("0x")
    # What is no duration is a ValueError too.
    return parse_duration(plain) / 1000 if is_duration else unsigned(plain)


def unsigned(text: str) -> float:
    """Return the value of a number without underscores. Raises ValueError."""
    # reference: Prometheus 3.5, promql/parser/parse.go number(): an integer in Go's forms, else a float.
    base = 16 if text.lower().startswith("0x") else 8 if OCTAL.fullmatch(text) else 0
    whole = int(text, base) if base else _MOST
    if whole < _MOST:
        return float(whole)
    found = float(text)
    if math.isinf(found):
        raise ValueError("value out of range")
    return found
