"""A thread for each receiver of remote write: none waits for another, and nothing waits for any."""

import logging
import threading
from collections.abc import Callable, Iterable

from monitor.model.instant import MINUTE, Duration, Instant, to_seconds
from monitor.remotewrite.writer import Writer

log = logging.getLogger(__name__)

# How long the end waits for a request that is under way.
PATIENCE_SECONDS = 1.0


class Remotes:
    """What is written to now. `now` reads the clock; `behind` hears by name how much each has not got."""

    def __init__(self, now: Callable[[], Instant], behind: Callable[[str, Duration], None]) -> None:
        self._now = now
        self._behind = behind
        self._running: list[_Running] = []

    def begin(self, writers: Iterable[Writer]) -> None:
        """Write by these, in the place of those before, from now on."""
        self.stop()
        self._running = [_Running(writer, self._now, self._behind) for writer in writers]

    def stop(self) -> None:
        """What waits is sent when somebody begins again."""
        for one in self._running:
            one.stopping.set()
        for one in self._running:
            one.thread.join(PATIENCE_SECONDS)
        self._running = []

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        for one in self._running:
            one.writer.shift(by)


class _Running:
    def __init__(self, writer: Writer, now: Callable[[], Instant], behind: Callable[[str, Duration], None]) -> None:
        self.writer = writer
        self.stopping = threading.Event()
        self._now = now
        self._behind = behind
        self.thread = threading.Thread(target=self._run, name="remote write", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        wait: Duration = 0
        while not self.stopping.wait(to_seconds(wait)):
            wait = self._step()

    def _step(self) -> Duration:
        try:
            wait = self.writer.step(self._now())
            self._behind(self.writer.name, self.writer.behind(self._now()))
        except Exception:  # whatever one receiver brings about, the next step may go well
            log.exception("remote write failed unexpectedly", extra={"remote": self.writer.name})
            return MINUTE
        return wait
