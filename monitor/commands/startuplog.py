"""A start-up log as a stream of lines: a file, a file that grows, or standard input."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from select import select
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
        for line in tail.all():
            reader.feed(line)
    return reader.startup()


def followed(path: str, timeout_seconds: float | None) -> Iterator[Startup]:
    """
    Yield what a log says so far, whenever it has grown, until nobody wants more or the time is over.

    As `tail -F`: when the file is renamed and another one takes its name, that is read on, as a part of the same log.
    A file that is cut is another log. Standard input is over at its end. Raises LogError when it is not there at the
    beginning.
    """
    end = None if timeout_seconds is None else monotonic_seconds() + timeout_seconds
    return _heard(end) if path == STANDARD_INPUT else _grown(path, end)


def _grown(path: str, end: float | None) -> Iterator[Startup]:
    reader, known = StartupReader(), -1
    with contextlib.ExitStack() as opened:
        log = opened.enter_context(_opened(path))
        tail = _Tail(log)
        while True:
            # Looked at before it is read: what is written under the old name until then is not left out.
            change = _changed(log, Path(path))
            for line in tail.lines():
                reader.feed(line)
            startup = reader.startup()
            if startup.lines != known:
                known = startup.lines
                yield startup
            if end is not None and monotonic_seconds() >= end:
                return
            if change is _Change.CUT:
                log.seek(0)
                reader, known, tail = StartupReader(), -1, _Tail(log)
            elif change is _Change.REPLACED and (another := _opened_again(path)) is not None:
                for line in tail.all():
                    reader.feed(line)
                opened.pop_all().close()
                log = opened.enter_context(another)
                tail = _Tail(log)
            else:
                time.sleep(_PAUSE_SECONDS)


def _heard(end: float | None) -> Iterator[Startup]:
    # Who writes may say nothing for hours, and is not waited for beyond the end.
    reader, rest, over = StartupReader(), b"", False
    with _opened(STANDARD_INPUT) as log:
        while not over:
            some = os.read(log.fileno(), _LONGEST) if select([log], [], [], _PAUSE_SECONDS)[0] else None
            over = some == b""
            *lines, rest = (rest + (some or b"")).split(b"\n")
            for line in [*lines, *([rest] if over and rest else [])]:
                reader.feed(_text(line))
            rest = rest[:_LONGEST]
            if some is not None:
                yield reader.startup()
            if end is not None and monotonic_seconds() >= end:
                return


class _Change(Enum):
    """What has happened to the file behind a name."""

    NONE = auto()
    CUT = auto()
    REPLACED = auto()


class _Tail:
    """The lines of a log: those that are whole, or with one that is still being written, or does not end."""

    def __init__(self, log: IO[bytes]) -> None:
        self._log = log
        self._rest = b""

    def all(self) -> Iterator[str]:
        yield from self.lines()
        if self._rest:
            yield _text(self._rest)

    def lines(self) -> Iterator[str]:
        try:
            while piece := self._log.readline(_LONGEST):
                self._rest = (self._rest + piece)[:_LONGEST]
                if piece.endswith(b"\n"):
                    line, self._rest = self._rest, b""
                    yield _text(line)
        except OSError as err:
            raise LogError(str(err.strerror)) from err


def _text(line: bytes) -> str:
    """Return a line as text: as a whole, since a character may be written in two pieces."""
    return line.decode("utf-8", errors="replace").rstrip("\r\n")


def _opened(path: str) -> IO[bytes]:
    try:
        if path == STANDARD_INPUT:
            # Python has none where it was closed before the start.
            if sys.stdin is None:
                raise LogError("standard input is closed")
            return open(sys.stdin.fileno(), "rb", closefd=False)
        return Path(path).open("rb")
    except OSError as err:
        raise LogError(f"{path}: {err.strerror}") from err


def _opened_again(path: str) -> IO[bytes] | None:
    """Return the file that has the name now; None where it went again meanwhile."""
    try:
        return _opened(path)
    except LogError:
        return None


def _changed(log: IO[bytes], path: Path) -> _Change:
    try:
        now, read = path.stat(), os.fstat(log.fileno())
    except OSError:
        return _Change.NONE  # it is being replaced: look again
    if (now.st_dev, now.st_ino) != (read.st_dev, read.st_ino):
        return _Change.REPLACED
    return _Change.CUT if now.st_size < log.tell() else _Change.NONE
