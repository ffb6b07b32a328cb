"""
Tokens of an expression, for what the parser library does not tell or take: places, limits, raw strings, number forms.

This is no second parser: a text that is wrong is passed on, and the library says what is wrong with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from monitor.promql.error import refused

Position = tuple[int, int]


class Kind(Enum):
    NUMBER = auto()
    NAME = auto()
    STRING = auto()
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()
    COMMA = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """
    A piece of the expression.

    It stands from `start` to `end` in the text, also where it says something else than is written there; `position` is
    its line and column from 1.
    """

    kind: Kind
    text: str
    start: int
    end: int
    position: Position


# A number may be a duration (1h30m), hexadecimal or have underscores; what it is worth is decided elsewhere.
_NUMBER = (
    # As in Prometheus the sign after a hexadecimal e is taken for that of an exponent; there is no such number.
    r"0[xX](?:[eE][+-]|[0-9a-fA-F_])+"
    r"|(?:[0-9][0-9_]*)(?:ms|[smhdwy])[0-9a-z]*"
    r"|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?"
)
_COMMON = (
    ("SPACE", r"(?:\s+|#[^\n]*)+"),
    ("STRING", r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`"),
    ("NUMBER", _NUMBER),
)
_REST = (
    ("OPERATOR", r"==|!=|<=|>=|=~|!~|[-+*/%^<>=@]"),
    ("OPEN", r"[({\[]"),
    ("CLOSE", r"[)}\]]"),
    ("COMMA", r","),
    ("OTHER", r"."),
)


def _pattern(*rules: tuple[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in rules), re.DOTALL)


_OUTSIDE = _pattern(*_COMMON, ("NAME", r"[a-zA-Z_:][a-zA-Z0-9_:]*"), *_REST)
# In `x[5m:30s]` the colon stands between two durations; elsewhere it is part of a metric name.
_IN_BRACKETS = _pattern(*_COMMON, ("NAME", r"[a-zA-Z_][a-zA-Z0-9_]*"), *_REST)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of an expression, without blanks and comments. Raises PromqlError on an open string."""
    at, line, line_start, brackets = 0, 1, 0, 0
    while at < len(text):
        found = (_IN_BRACKETS if brackets else _OUTSIDE).match(text, at)
        # OTHER takes any character, so something is always found.
        name, piece = (found.lastgroup or "", found.group()) if found else ("OTHER", text[at])
        if name != "SPACE":
            position = (line, at - line_start + 1)
            if name == "OTHER" and piece in "\"'`":
                raise refused("unterminated quoted string", position)
            brackets += (piece == "[") - (piece == "]") if name in ("OPEN", "CLOSE") else 0
            yield Token(Kind[name], piece, at, at + len(piece), position)
        if "\n" in piece:
            line += piece.count("\n")
            line_start = at + piece.rindex("\n") + 1
        at += len(piece)
