"""Places inside a value: the third line of an expression is some line of the file."""

import re

from monitor.yamldoc.mistake import Place
from monitor.yamldoc.node import Scalar, Style
from monitor.yamldoc.source import place_at

# One piece of the written form for one character of the value.
_PIECES = {
    Style.SINGLE: re.compile(r"''|.", re.DOTALL),
    Style.DOUBLE: re.compile(r"\\x..|\\u.{4}|\\U.{8}|\\.|.", re.DOTALL),
}
_ANY = re.compile(r".", re.DOTALL)
# Written forms that stand for white space, or for nothing.
_BLANK_ESCAPES = frozenset(("\\n", "\\t", "\\r", "\\ ", "\\\n", "\\\t", "\\v", "\\f", "\\N", "\\_", "\\L", "\\P"))


def place_inside(text: str, scalar: Scalar, line: int, column: int) -> Place:
    """
    Return where in `text`, the document, the character of the value at `line`:`column` (from 1) is written.

    White space is folded and indented in many ways, all else is written in the order of the value:
    so the characters that are not white space are counted. One that does not exist is behind the last.
    """
    lines = scalar.text.split("\n")
    before = "\n".join([*lines[: line - 1], lines[line - 1][: column - 1] if line <= len(lines) else ""])
    inside = line <= len(lines) and lines[line - 1][column - 1 : column].strip() != ""
    wanted = sum(not char.isspace() for char in before) + inside
    start = _content_start(text, scalar)
    if wanted == 0:
        return scalar.place
    for found in _PIECES.get(scalar.style, _ANY).finditer(text, start):
        if not found[0].isspace() and found[0] not in _BLANK_ESCAPES:
            wanted -= 1
        if wanted == 0:
            return place_at(text, found.start() if inside else found.end())
    return scalar.place


def _content_start(text: str, scalar: Scalar) -> int:
    if scalar.style in (Style.LITERAL, Style.FOLDED):
        return text.find("\n", scalar.start) + 1
    return scalar.start + (scalar.style in (Style.SINGLE, Style.DOUBLE))
