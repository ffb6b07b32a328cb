"""One line of a page, read from left to right: what the text format and OpenMetrics share."""

import re
from typing import NamedTuple

from monitor.model.instant import Instant
from monitor.scrape.errors import PageError, readable
from monitor.scrape.number import parse_value

METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+"')
EQUALS = re.compile("=")
COMMA = re.compile(",")
OPEN = re.compile(r"\{")
CLOSE = re.compile(r"\}")

# The usual label, at one go: no blanks, no escapes, UTF-8.
_USUAL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="([^"\\\udc80-\udcff]*)"(?:,|(?=\}))')
_ESCAPE = re.compile(r'\\([\\"n])')
_ESCAPE_BUT_QUOTES = re.compile(r"\\([\\n])")
_ESCAPED = {"\\": "\\", '"': '"', "n": "\n"}
# What decoding with `surrogateescape` makes of bytes that are no UTF-8.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")

Pairs = tuple[tuple[str, str], ...]


class Exposed(NamedTuple):
    """
    One sample as the page has it: labels in their order, empty ones included.

    `at` is its own timestamp. `plain`: the line is nothing but series, one blank and value.
    """

    name: str
    pairs: Pairs
    value: float
    at: Instant | None
    plain: bool


class Description(NamedTuple):
    """What a HELP, TYPE or UNIT line says of the family `name`."""

    keyword: str
    name: str
    text: str


class Line:
    """A line and how far it is read. Every error names the place."""

    __slots__ = ("at", "number", "text")

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.at = 0

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Return what `pattern` matches here and go on behind it, or None."""
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def expect(self, pattern: re.Pattern[str], what: str) -> str:
        """Return what `pattern` matches here. Raises PageError, "expected `what`"."""
        found = self.take(pattern)
        if found is None:
            raise self.unexpected(what)
        return found

    def unexpected(self, what: str) -> PageError:
        rest = self.text[self.at : self.at + 1]
        return self.error(f"expected {what}, got {readable(rest) if rest else 'the end of the line'}")

    def error(self, message: str) -> PageError:
        return PageError(message, line=self.number, column=self.at + 1, text=self.text)

    def number_of(self, text: str) -> float:
        """Return the float of `text`, which was just taken. Raises PageError."""
        try:
            return parse_value(text)
        except ValueError as err:
            self.at -= len(text)
            raise self.error(f"{readable(text)}: {err}") from err

    def plain_string(self, quoted: str, what: str) -> str:
        """Return a quoted string without quotes and escapes. Raises PageError when it is not UTF-8."""
        if _NOT_UTF8.search(quoted):
            self.at -= len(quoted)
            raise self.error(f"{what} is not valid UTF-8")
        inner = quoted[1:-1]
        return unescaped(inner) if "\\" in inner else inner


def unescaped(text: str, pattern: re.Pattern[str] = _ESCAPE) -> str:
    """Return `text` with its backslashes resolved; one before any other character stays, as in Prometheus."""
    return pattern.sub(lambda found: _ESCAPED[found.group(1)], text)


def without_escapes(text: str, keyword: str, line: Line, *, quotes: bool) -> str:
    """Return the text of a description; `quotes`: whether quotes are escaped in it. Raises PageError."""
    if keyword == "HELP" and _NOT_UTF8.search(text):
        raise line.error("help text is not valid UTF-8")
    return unescaped(text, _ESCAPE if quotes else _ESCAPE_BUT_QUOTES) if "\\" in text else text


class Series:
    """
    The name and labels before a value: `name{a="b"}` or `{"name", "a.b"="c"}`.

    `blank` is what may stand between tokens; `loose`: a comma between labels may be left out.
    """

    __slots__ = ("blank", "loose")

    def __init__(self, *, blank: re.Pattern[str], loose: bool) -> None:
        self.blank = blank
        self.loose = loose

    def read(self, line: Line) -> tuple[str, Pairs]:
        """Return the metric name and the labels. Raises PageError."""
        line.take(self.blank)
        name = line.take(METRIC)
        if name is None and not line.text.startswith("{", line.at):
            raise line.unexpected("a valid start token")
        line.take(self.blank if name is None or self.loose else _NOTHING)
        if line.take(OPEN) is None:
            return name or "", ()
        return self.labels(line, name, may_name=True)

    def labels(self, line: Line, name: str | None, *, may_name: bool) -> tuple[str, Pairs]:
        """Read up to the closing brace; `may_name`: a quoted string alone names the metric. Raises PageError."""
        pairs: list[tuple[str, str]] = []
        while True:
            while usual := _USUAL.match(line.text, line.at):
                pairs.append((usual.group(1), usual.group(2)))
                line.at = usual.end()
            line.take(self.blank)
            if line.take(CLOSE):
                break
            start = line.at
            label = self._name(line)
            line.take(self.blank)
            if may_name and line.text[start] == '"' and line.text[line.at : line.at + 1] in (",", "}"):
                if name is not None:
                    raise line.error("metric name already set")
                name = label
            else:
                line.expect(EQUALS, "equal")
                pairs.append((label, self._value(line)))
            self._separator(line)
        if may_name and name is None:
            raise line.error("metric name not set")
        return name or "", tuple(pairs)

    def _name(self, line: Line) -> str:
        quoted = line.take(QUOTED)
        if quoted is not None:
            return line.plain_string(quoted, "name")
        return line.expect(LABEL, "label name")

    def _value(self, line: Line) -> str:
        line.take(self.blank)
        return line.plain_string(line.expect(QUOTED, "label value"), "label value")

    def _separator(self, line: Line) -> None:
        line.take(self.blank)
        if line.take(COMMA) is None and not self.loose and not line.text.startswith("}", line.at):
            raise line.unexpected("comma or brace close")


_NOTHING = re.compile("")
