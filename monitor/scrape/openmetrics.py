"""
OpenMetrics 1.0, line by line.

What Prometheus 3 enforces is enforced (model/textparse/openmetricsparse.go): single blanks, `# EOF`, no other comments;
what it lets pass, such as interleaved families, passes. Exemplars are checked and dropped.
"""

import re
from collections.abc import Sequence

from monitor.model.instant import Instant
from monitor.model.sample import MetricType
from monitor.scrape.errors import PageError, readable
from monitor.scrape.line import METRIC, QUOTED, Description, Exposed, Line, Series, without_escapes

_NO_BLANK = re.compile("")
_HASH = re.compile("# ")
_KEYWORD = re.compile("(HELP|TYPE|UNIT) ")
_BLANK = re.compile(" ")
_VALUE = re.compile("[^ ]+")
_EXEMPLAR = re.compile(r" # \{")
_EOF = "# EOF"
# In milliseconds it must fit into 64 bits.
_MOST_SECONDS = 1e15
_SERIES = Series(blank=_NO_BLANK, loose=False)
_TYPES = {kind.value: kind for kind in MetricType}


class OpenMetrics:
    """Reads lines of OpenMetrics. All methods raise PageError."""

    types = _TYPES

    def length(self, lines: Sequence[str]) -> int:
        """Return how many of the `lines` are to be read: those before the `# EOF` that ends the page."""
        written = len(lines) - (lines[-1] == "")
        return written - 1 if written and lines[written - 1] == _EOF else written

    def check_end(self, lines: Sequence[str], length: int) -> None:
        if length == len(lines) or lines[length] != _EOF:
            raise PageError(f"data does not end with {_EOF}", line=max(length, 1))

    def describes(self, line: Line) -> tuple[bool, Description | None]:
        """Say whether the line holds no sample, and what it says of a family if anything."""
        if line.text.startswith(_EOF):
            raise line.error(f"unexpected data after {_EOF}")
        if line.take(_HASH) is None:
            return False, None
        keyword = line.take(_KEYWORD)
        if keyword is None:
            raise line.unexpected("HELP, TYPE, UNIT or EOF")
        keyword = keyword.strip()
        quoted = line.take(QUOTED)
        name = line.plain_string(quoted, "name") if quoted else line.expect(METRIC, f"metric name after {keyword}")
        line.expect(_BLANK, f"text in {keyword}")
        text = without_escapes(line.text[line.at :], keyword, line, quotes=True)
        if keyword == "UNIT" and text and not name.endswith("_" + text):
            raise line.error(f"unit {readable(text)} not a suffix of metric {readable(name)}")
        return True, Description(keyword, name, text)

    def sample(self, line: Line) -> Exposed:
        """Return the sample of a line."""
        name, pairs = _SERIES.read(line)
        value = self._number(line, "metric")
        if line.at == len(line.text):
            return Exposed(name, pairs, value, None, plain=True)
        at = None if line.take(_EXEMPLAR) else self._timestamp(line)
        if at is None or line.take(_EXEMPLAR):
            self._exemplar(line)
        if line.at < len(line.text):
            raise line.unexpected("next entry after timestamp")
        return Exposed(name, pairs, value, at, plain=False)

    def _exemplar(self, line: Line) -> None:
        _SERIES.labels(line, None, may_name=False)
        self._number(line, "exemplar labels")
        if line.at < len(line.text):
            self._timestamp(line)

    def _number(self, line: Line, after: str) -> float:
        line.expect(_BLANK, f"value after {after}")
        return line.number_of(line.expect(_VALUE, f"value after {after}"))

    def _timestamp(self, line: Line) -> Instant:
        line.expect(_BLANK, "timestamp or new record")
        text = line.expect(_VALUE, "timestamp or new record")
        seconds = line.number_of(text)
        if not abs(seconds) < _MOST_SECONDS:  # NaN neither
            raise line.error(f"invalid timestamp {readable(text)}")
        return int(seconds * 1000)


OPENMETRICS = OpenMetrics()
