"""
Files that Prometheus' own tools write: `promtool tsdb dump-openmetrics`, and `promtool tsdb dump`.

OpenMetrics with a timestamp, in seconds, at each sample; or the same without metadata, the name among the labels, and
the time in milliseconds. Both tell a staleness marker as NaN, so NaN is taken for one.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from math import isnan
from operator import methodcaller
from pathlib import Path
from typing import IO

from monitor.backtest.source import Period, Samples, SourceError, usual_interval
from monitor.backtest.spool import Spool
from monitor.model.instant import Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.sample import STALE

_BLOCK = 1024 * 1024
# Whoever writes one series behind the other has its samples together, else they are collected for so long.
_MOST_WAITING = 4_000_000
_MOST_TIMES = 2_000_000
_NAME = re.compile(rb"[a-zA-Z_:][a-zA-Z0-9_:]*")
_PAIR = re.compile(rb'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|$)')
_ESCAPED = re.compile(r"\\(.)")
_EOF = b"# EOF"
_NEWLINE = b"\n"
_OPEN, _CLOSE = b"{", b"}"
_VALUE_AND_TIME = 2


class Dump:
    """A dump on disk, read once into a spool; `names` are the metrics that count, None is all. Raises SourceError."""

    def __init__(self, path: Path, names: Collection[str] | None) -> None:
        self.path = path
        self._spool = Spool()
        reader = _Reader(path, self._spool, None if names is None else {name.encode() for name in names})
        try:
            with path.open("rb") as file:
                reader.read(file)
        except OSError as err:
            raise SourceError(f"{path}: {err.strerror}") from err
        if self._spool.is_empty:
            raise SourceError(f"{path}: no sample in it that any rule reads")

    def period(self, interval: Duration | None) -> Period:
        """Return from when to when there are samples; without an `interval` that of the scrapes."""
        start, end = self._spool.period()
        return Period(start, end, interval or usual_interval(self._spool.some_times()))

    def read(self, after: Instant, until: Instant) -> Iterable[Samples]:
        return self._spool.read(after, until)


class _Reader:
    """
    Reads blocks of lines.

    Lines of one series that follow one another are read in one go: the text of the series is taken out of all of them,
    and what is left are numbers.
    """

    def __init__(self, path: Path, spool: Spool, names: Collection[bytes] | None) -> None:
        self._path = path
        self._spool = spool
        self._names = names
        self._line = 0
        self._in_milliseconds = False
        self._labels: dict[bytes, Labels | None] = {}
        self._times: dict[bytes, Instant] = {}
        self._waiting: dict[Labels, tuple[array[int], array[float]]] = {}
        self._held = 0

    def read(self, file: IO[bytes]) -> None:
        """Read all of it. Raises SourceError."""
        rest = b""
        while block := file.read(_BLOCK):
            block = rest + block
            cut = block.rfind(_NEWLINE) + 1
            rest = block[cut:]
            self._block(block[:cut])
        if rest:
            self._block(rest + _NEWLINE)
        self._spill()

    def _block(self, block: bytes) -> None:
        lines = block.splitlines()
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line or line.startswith(b"#"):
                at += 1
                self._line += 1
                continue
            prefix = line[: self._after_series(line)]
            end = _end_of_run(lines, at, prefix)
            self._run(prefix, lines[at:end])
            self._line += end - at
            at = end

    def _after_series(self, line: bytes) -> int:
        """Return where the value of the line begins."""
        space = line.find(b" ")
        if 0 <= line.find(_OPEN) < space or space < 0:
            # An exemplar has braces of its own behind the value.
            space = line.rfind(b"} ", 0, line.find(b" # {") if b" # {" in line else len(line)) + 1
        if space <= 0:
            raise self._error("neither a sample nor a comment")
        return space + 1

    def _run(self, prefix: bytes, lines: list[bytes]) -> None:
        """Read lines that are all of the series `prefix`."""
        labels = self._series(prefix)
        if labels is None:
            return
        length = len(prefix)
        rests = [line[length:] for line in lines]
        tokens = b" ".join(rests).split()
        if len(tokens) != 2 * len(rests):
            tokens = [token for rest in rests for token in self._numbers(rest)]
        self._take(labels, tokens)

    def _numbers(self, rest: bytes) -> list[bytes]:
        """Return value and timestamp of a line; an exemplar may stand behind them."""
        tokens = rest.split(b" # ", 1)[0].split()
        if len(tokens) != _VALUE_AND_TIME:
            raise self._error("a sample without a timestamp: a backtest needs one at each")
        return tokens

    def _take(self, labels: Labels, tokens: list[bytes]) -> None:
        try:
            values = array("d", list(map(float, tokens[0::2])))
            times = array("q", self._instants(tokens[1::2]))
        except (OverflowError, ValueError) as err:
            raise self._error("no number where one must be") from err
        # NaN is all that a sum cannot hide.
        if isnan(sum(values)):
            values = array("d", [STALE if value != value else value for value in values])  # noqa: PLR0124 - NaN
        known = self._waiting.get(labels)
        if known is None:
            self._waiting[labels] = (times, values)
        else:
            known[0].extend(times)
            known[1].extend(values)
        self._held += len(values)
        if self._held > _MOST_WAITING:
            self._spill()

    def _instants(self, texts: list[bytes]) -> list[Instant]:
        known = self._times
        try:
            return [known[text] for text in texts]
        except KeyError:
            if len(known) > _MOST_TIMES:
                known.clear()
            scale = 1 if self._in_milliseconds else 1000
            for text in texts:
                if text not in known:
                    # Cut off as Prometheus does it.
                    known[text] = int(text) if self._in_milliseconds else int(float(text) * scale)
            return [known[text] for text in texts]

    def _spill(self) -> None:
        for labels, (times, values) in self._waiting.items():
            self._spool.add(labels, times, values)
        self._waiting.clear()
        self._held = 0

    def _series(self, prefix: bytes) -> Labels | None:
        """Return the labels of a series as it is written, None when it does not count."""
        if prefix not in self._labels:
            self._labels[prefix] = self._parsed(prefix.rstrip())
        return self._labels[prefix]

    def _parsed(self, text: bytes) -> Labels | None:
        named = _NAME.match(text)
        name = named.group() if named is not None else b""
        inside = text[len(name) :]
        self._in_milliseconds = self._in_milliseconds or not name
        pairs: dict[str, str] = {METRIC_NAME: name.decode()}
        if inside.startswith(b'{"'):
            # A name that must be quoted is none of vLLM's.
            return None
        if inside:
            if not inside.startswith(_OPEN) or not inside.endswith(_CLOSE):
                raise self._error("no labels where they must be")
            pairs |= self._pairs(inside[1:-1])
        if self._names is not None and pairs[METRIC_NAME].encode() not in self._names:
            return None
        return Labels.of(pairs)

    def _pairs(self, text: bytes) -> dict[str, str]:
        pairs: dict[str, str] = {}
        at = 0
        while at < len(text):
            found = _PAIR.match(text, at)
            if found is None:
                raise self._error("labels that cannot be read")
            value = found.group(2).decode("utf-8", "replace")
            pairs[found.group(1).decode()] = _ESCAPED.sub(_unescaped, value) if "\\" in value else value
            at = found.end()
        return pairs

    def _error(self, what: str) -> SourceError:
        return SourceError(f"{self._path}:{self._line + 1}: {what}")


def _unescaped(found: "re.Match[str]") -> str:
    return "\n" if found.group(1) == "n" else found.group(1)


def _end_of_run(lines: Sequence[bytes], at: int, prefix: bytes) -> int:
    """Return where the lines end that begin with `prefix` as the one at `at` does, and follow one another."""
    end = at + 1
    if end == len(lines) or not lines[end].startswith(prefix):
        return end
    # Most files have all lines of a series together: then the last of them is found by halves.
    last = bisect_left(range(end, len(lines)), x=True, key=lambda place: not lines[place].startswith(prefix)) + end
    if all(map(methodcaller("startswith", prefix), lines[at:last])):
        return last
    while lines[end].startswith(prefix):
        end += 1
    return end
