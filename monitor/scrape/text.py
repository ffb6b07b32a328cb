"""
The text format, versions 0.0.4 and 1.0.0, line by line.

As lenient as Prometheus 3 (model/textparse/promparse.go): blanks anywhere, commas between labels optional, families in
any order. Three differences: a line feed inside quotes must be escaped; a line that begins with a NUL byte is an error,
not the end of the page; blanks before a metric do not become part of its name.
"""

import re
from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.model.sample import MetricType
from monitor.scrape.line import METRIC, QUOTED, Description, Exposed, Line, Series, without_escapes

_BLANK = re.compile(r"[ \t]*")
_HASH = re.compile("#")
_KEYWORD = re.compile(r"[ \t]+(HELP|TYPE)[ \t]+")
_VALUE = re.compile(r"[^{ \t]+")
_TIMESTAMP = re.compile(r"[0-9]+")
# Milliseconds: what 18 digits can say fits into 64 bits and lies far beyond any clock.
_MOST_DIGITS = 18
_SERIES = Series(blank=_BLANK, loose=True)
_TYPES = {
    "counter": MetricType.COUNTER,
    "gauge": MetricType.GAUGE,
    "histogram": MetricType.HISTOGRAM,
    "summary": MetricType.SUMMARY,
    "untyped": MetricType.UNKNOWN,
}


class TextFormat:
    """Reads lines of the text format. All methods raise PageError."""

    types = _TYPES

    def length(self, lines: Sequence[str]) -> int:
        """Return how many of the `lines` are to be read."""
        return len(lines)

    def check_end(self, lines: Sequence[str], length: int) -> None:
        """Nothing has to stand at the end of a page."""

    def describes(self, line: Line) -> tuple[bool, Description | None]:
        """Say whether the line holds no sample, and what it says of a family if anything."""
        line.take(_BLANK)
        if line.take(_HASH) is None:
            return line.at == len(line.text), None
        keyword = line.take(_KEYWORD)
        if keyword is None:
            return True, None
        keyword = keyword.strip()
        quoted = line.take(QUOTED)
        name = line.plain_string(quoted, "name") if quoted else line.expect(METRIC, f"metric name after {keyword}")
        # One character parts name and text, whatever it is.
        text = line.text[line.at + 1 :] if line.text[line.at :].strip(" \t") else ""
        return True, Description(keyword, name, without_escapes(text, keyword, line, quotes=False))

    def sample(self, line: Line) -> Exposed:
        """Return the sample of a line."""
        name, pairs = _SERIES.read(line)
        line.take(_BLANK)
        text = line.expect(_VALUE, "value after metric")
        value = line.number_of(text)
        if line.at == len(line.text):
            return Exposed(name, pairs, value, None, plain=line.text[: -len(text)].endswith(" "))
        line.take(_BLANK)
        if line.at == len(line.text):
            return Exposed(name, pairs, value, None, plain=False)
        at = self._timestamp(line)
        if line.at < len(line.text):
            raise line.unexpected("next entry after timestamp")
        return Exposed(name, pairs, value, at, plain=False)

    def _timestamp(self, line: Line) -> Instant:
        digits = line.expect(_TIMESTAMP, "timestamp or new record").lstrip("0") or "0"
        if len(digits) > _MOST_DIGITS:
            raise line.error("timestamp out of range")
        line.take(_BLANK)
        return int(digits)


TEXT = TextFormat()
