"""A start-up log as a stream of lines: a file, a file that grows, or standard input."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from monitor.capacity.startup import Startup
from monitor.capacity.startup_reader import StartupReader
from monitor.clock import monotonic_seconds

STANDARD_INPUT = "-"
# Lines that never end are cut here; what they say stands at their beginning.
_LONGEST = 100_000
_PAUSE_SECONDS = 0.2


class LogError(Exception):
    """The log cannot be read; the message says why."""


def whole(path: str) -> Startup:
    """Return what a log says that is there. Raises LogError."""
    reader = StartupReader()
    with _opened(path) as log:
        tail = _Tail(log)
        for line in tail.lines():
            reader.feed(line)
        reader.feed(tail.rest)
    return reader.startup()


def followed(path: str, timeout_seconds: float | None) -> Iterator[Startup]:
    """
    Yield what a log says so far, whenever it has grown, until nobody wants more or the time is over.

    A file that is cut is read from its beginning. Raises LogError when it is not there.
    """
    end = None if timeout_seconds is None else monotonic_seconds() + timeout_seconds
    reader, known = StartupReader(), -1
    with _opened(path) as log:
        tail = _Tail(log)
        while True:
            for line in tail.lines():
                reader.feed(line)
            startup = reader.startup()
            if startup.lines != known:
                known = startup.lines
                yield startup
            if path == STANDARD_INPUT or (end is not None and monotonic_seconds() >= end):
                return
            if _was_cut(log, Path(path)):
                log.seek(0)
                reader, tail = StartupReader(), _Tail(log)
            time.sleep(_PAUSE_SECONDS)


class _Tail:
    """Lines that are whole; of one that is still being written, or does not end, `rest` is the beginning."""

    def __init__(self, log: IO[str]) -> None:
        self._log = log
        self.rest = ""

    def lines(self) -> Iterator[str]:
        try:
            while piece := self._log.readline(_LONGEST):
                self.rest = (self.rest + piece)[:_LONGEST]
                if piece.endswith("\n"):
                    line, self.rest = self.rest.rstrip("\n"), ""
                    yield line
        except OSError as err:
            raise LogError(str(err.strerror)) from err


def _opened(path: str) -> IO[str]:
    try:
        if path == STANDARD_INPUT:
            return open(sys.stdin.fileno(), encoding="utf-8", errors="replace", closefd=False)
        return Path(path).open(encoding="utf-8", errors="replace")
    except OSError as err:
        raise LogError(f"{path}: {err.strerror}") from err


def _was_cut(log: IO[str], path: Path) -> bool:
    try:
        return path.stat().st_size < log.tell()
    except OSError:
        return False  # it is being replaced: look again
