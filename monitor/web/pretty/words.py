"""Strings, numbers, durations and names, as Prometheus writes them."""

import math
import re
from decimal import Decimal

from monitor.model.instant import format_duration
from monitor.promql.durations import is_duration
from monitor.promql.lex import Token
from monitor.promql.values import number
from monitor.web.pretty.tree import Number

_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ESCAPED = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\", '"': '"'}
_LABEL = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
_FIRST_WIDE = 0x10000


def unquoted(token: Token) -> str:
    """Return what a string in single or double quotes says; bytes that are no UTF-8 are lone surrogates."""
    return _ESCAPE.sub(_meaning, token.text[1:-1].encode()).decode(errors="surrogateescape")


def _meaning(found: "re.Match[bytes]") -> bytes:
    byte, short, long, octal, other = found.groups()
    if byte or octal:
        return bytes([int(byte, 16) if byte else int(octal, 8) & 0xFF])
    if short or long:
        return chr(int(short or long, 16)).encode(errors="surrogatepass")
    return _LETTERS.get(other, other)


def quoted(text: str) -> str:
    """Return a string in double quotes, as Go quotes it."""
    return '"' + "".join([_quoted(char) for char in text]) + '"'


def _quoted(char: str) -> str:
    if char in _ESCAPED:
        return "\\" + _ESCAPED[char]
    if char.isprintable():
        return char
    code = ord(char)
    if "\udc80" <= char <= "\udcff":
        return f"\\x{code - 0xDC00:02x}"
    if code < ord(" ") or char == "\x7f":
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _FIRST_WIDE else f"\\U{code:08x}"


def label(name: str) -> str:
    """Return a label name, in quotes where it has to be."""
    return name if _LABEL.fullmatch(name) else quoted(name)


def literal(token: Token) -> Number:
    """Return a number or duration that stands for itself."""
    value = number(token)
    return Number(duration(value) if is_duration(token) else number_text(value))


def number_text(value: float) -> str:
    """Return a number in full, without an exponent."""
    if math.isnan(value):
        return "NaN"
    return "+Inf" if math.isinf(value) else format(Decimal(repr(value)), "f").removesuffix(".0")


def duration(seconds: float) -> str:
    """Return a duration, cut to milliseconds."""
    return format_duration(round(seconds * 1e9) // 1_000_000)
