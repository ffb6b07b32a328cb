"""Has a chart drawn by a child process, within a time and a size."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from enum import StrEnum
from importlib.util import find_spec

from monitor.charts.chart import Chart, encoded
from monitor.charts.sheet import Sheet, encoded_sheet
from monitor.model.instant import MINUTE, SECOND, Duration, to_seconds

# -P: no module of the folder the daemon was started in takes the place of one of Python's.
COMMAND = (sys.executable, "-P", "-m", "monitor.charts")
TIMEOUT: Duration = 30 * SECOND
# Nobody is called by a report: rather late than without its picture.
UNHURRIED: Duration = 5 * MINUTE
LARGEST = 1 << 20
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The environment may hold tokens: the child gets what Python and matplotlib look at, and nothing else.
_PASSED = ("HOME", "LD_LIBRARY_PATH", "MPLCONFIGDIR", "PATH", "PYTHONPATH", "TMPDIR", "XDG_CACHE_HOME")
_SET = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Why(StrEnum):
    """Why there is no picture: a label of a metric."""

    TIMEOUT = "drawing_timeout"
    FAILED = "drawing_failed"
    TOO_LARGE = "drawing_too_large"


class ChartError(Exception):
    """The chart was not drawn."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.why = why


def is_installed() -> bool:
    """Say whether the extra `charts` is there, without loading it."""
    return find_spec("matplotlib") is not None


class Child:
    """Draws one chart at a time; each has a process of its own, so that its memory is given back."""

    def __init__(self, command: Sequence[str] = COMMAND, timeout: Duration = TIMEOUT) -> None:
        self._command = command
        self._seconds = to_seconds(timeout)
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def draw(self, chart: Chart | Sheet) -> bytes:
        """Return the PNG. Raises ChartError."""
        try:
            body = encoded(chart) if isinstance(chart, Chart) else encoded_sheet(chart)
        except ValueError as err:
            raise ChartError(Why.TOO_LARGE, str(err)) from err
        try:
            process = self._start()
        except OSError as err:
            raise ChartError(Why.FAILED, f"no child process: {err.strerror}") from err
        late = threading.Event()
        timer = threading.Timer(self._seconds, _end, (process, late))
        timer.daemon = True
        try:
            timer.start()
            picture = _exchanged(process, body)
        finally:
            timer.cancel()
            process.kill()
            code = process.wait()
        if late.is_set():
            raise ChartError(Why.TIMEOUT, f"not drawn within {self._seconds:g} s")
        return _checked(picture, code)

    def stop(self) -> None:
        """End the child that draws, and start none any more."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def _start(self) -> "subprocess.Popen[bytes]":
        environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
        with self._lock:
            if self._stopped:
                raise ChartError(Why.FAILED, "the daemon ends")
            # The command is ours, and no shell reads it.
            self._process = subprocess.Popen(  # noqa: S603
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment | _SET,
            )
            return self._process


def _exchanged(process: "subprocess.Popen[bytes]", body: bytes) -> bytes:
    """Hand over the chart and return what comes back, as much of it as may be."""
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    assert process.stdout is not None  # noqa: S101 - the same
    with process.stdout as answer:
        try:
            with process.stdin as given:
                given.write(body)
        except OSError:
            # It died before it had read everything: its exit code tells.
            return b""
        picture = answer.read(LARGEST + 1)
        if len(picture) <= LARGEST:
            # It has closed its side, so it is about to end.
            process.wait()
        return picture


def _checked(picture: bytes, code: int) -> bytes:
    if len(picture) > LARGEST:
        raise ChartError(Why.TOO_LARGE, "the picture is too large")
    if code != 0 or not picture.startswith(_SIGNATURE):
        raise ChartError(Why.FAILED, f"the child that draws ended with {code}")
    return picture


def _end(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    late.set()
    process.kill()
