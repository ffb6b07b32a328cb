"""
A series by its labels: `name{a="b"}`.

reference: Prometheus' promtool 3.5.3, observed, and PromQL's string literals. Stricter in one thing: a label that is
given twice is a mistake here, and something that can never be equal there.
"""

import re

from monitor.model.labels import METRIC_NAME, Labels
from monitor.rules.unittest.errors import NotationError
from monitor.yamldoc.mistake import shown

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abfnrtv\\'\"])|(.?))", re.DOTALL
)
_SIMPLE = dict(zip("abfnrtv\\'\"", "\a\b\f\n\r\t\v\\'\"", strict=True))
# Words that PromQL's grammar does not take for the name of a metric, in any case.
_RESERVED = frozenset(["atan2", "bool", "group_left", "group_right", "ignoring", "inf", "nan", "on"])


def parse_metric(text: str, *, blank_before_brace: bool = True) -> Labels:
    """
    Return the labels of a series; "" has none.

    In `series` of an input series (`blank_before_brace` false) a blank before the brace begins the values already.
    Raises NotationError.
    """
    return _Reader(text).metric(blank_before_brace=blank_before_brace)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._pairs: dict[str, str] = {}

    def metric(self, *, blank_before_brace: bool) -> Labels:
        self._skip_blank()
        name = self._take(_NAME)
        if name:
            if name.lower() in _RESERVED:
                raise self._error(f"{shown(name)} cannot be the name of a metric", back=len(name))
            self._pairs[METRIC_NAME] = name
        before = self._at
        self._skip_blank()
        if self._peek() == "{":
            if name and not blank_before_brace and self._at > before:
                raise self._error("a blank stands before the brace")
            self._at += 1
            self._braces()
        self._skip_blank()
        if self._at < len(self._text):
            raise self._error(f"{shown(self._text[self._at :], 20)} is too much")
        return Labels.of(self._pairs)

    def _braces(self) -> None:
        self._skip_blank()
        while self._peek() != "}":
            self._pair()
            self._skip_blank()
            if self._peek() == ",":
                self._at += 1
                self._skip_blank()
            elif self._peek() != "}":
                raise self._error('a "," or "}" is missing')
        self._at += 1

    def _pair(self) -> None:
        start = self._at
        quoted = self._peek() in tuple("\"'`")
        name = self._string() if quoted else self._take(_NAME)
        if not name or (not quoted and ":" in name):
            raise self._error("the name of a label is missing", back=self._at - start)
        self._skip_blank()
        if self._peek() != "=":
            if not quoted:
                raise self._error(f'"=" is missing behind {name}')
            # A name of a metric in quotes, for those that are no plain word.
            name, value = METRIC_NAME, name
        else:
            self._at += 1
            self._skip_blank()
            value = self._string()
        if name in self._pairs:
            raise self._error(f"the label {shown(name)} is given twice", back=self._at - start)
        self._pairs[name] = value

    def _string(self) -> str:
        start = self._at
        found = self._take(_STRING)
        if not found:
            raise self._error("a text in quotes is missing")
        if found[0] == "`":
            return found[1:-1]
        try:
            return _unquoted(found[1:-1], found[0])
        except ValueError as err:
            raise self._error(str(err), back=self._at - start) from err

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found.group()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_blank(self) -> None:
        self._take(_BLANK)

    def _error(self, what: str, back: int = 0) -> NotationError:
        return NotationError(what, self._at - back + 1)


def _unquoted(text: str, quote: str) -> str:
    """Return the text of a string literal, escapes as in Go; raises ValueError."""
    parts: list[bytes] = []
    end = 0
    for found in _ESCAPE.finditer(text):
        parts.append(text[end : found.start()].encode())
        parts.append(_escaped(found, quote))
        end = found.end()
    try:
        return b"".join([*parts, text[end:].encode()]).decode()
    except UnicodeDecodeError as err:
        raise ValueError("the text is not UTF-8") from err


def _escaped(found: re.Match[str], quote: str) -> bytes:
    by_hex, by_octal, short, long, simple, _ = found.groups()
    if by_hex or by_octal:
        code = int(by_hex, 16) if by_hex else int(by_octal, 8)
        if code <= 0xFF:  # noqa: PLR2004 - it is one byte
            return bytes([code])
    elif short or long:
        return chr(int(short or long, 16)).encode()
    elif simple and simple not in set("'\"") - {quote}:
        return _SIMPLE[simple].encode()
    raise ValueError(f"the escape {found.group()} is not known")
