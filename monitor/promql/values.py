"""Numbers and durations as an expression writes them, in the units of the program."""

import math
import re
from collections.abc import Sequence
from datetime import timedelta

from monitor.model.instant import Duration, DurationError, Instant, parse_duration
from monitor.promql.error import refused
from monitor.promql.lex import Kind, Position, Token
from monitor.promql.selector import Anchor

_MOST = 2**63
OCTAL = re.compile(r"0(_?[0-7])+")


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
    text = token.text.replace("_", "")
    try:
        if text.lower() in ("inf", "nan"):
            return float(text)
        if token.kind is not Kind.NUMBER:
            raise refused(f"{token.text!r} is not a number", token.position)
        if text.lower().startswith("0x"):
            return float(int(text, 16))
        if OCTAL.fullmatch(token.text):
            return float(int(text, 8))
        if text[-1].isalpha():
            return parse_duration(text) / 1000
        return float(text)
    except (DurationError, ValueError, OverflowError) as err:
        raise refused(f"bad number or duration syntax: {token.text!r}", token.position) from err
