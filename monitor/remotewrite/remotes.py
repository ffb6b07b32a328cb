"""A thread for each receiver of remote write: none waits for another, and nothing waits for any."""

import logging
import threading
from collections.abc import Callable, Iterable

from monitor.clock import monotonic_seconds
from monitor.model.instant import MINUTE, Duration, Instant, to_seconds
from monitor.remotewrite.writer import Writer

log = logging.getLogger(__name__)

# How long the end waits for the requests that are under way.
PATIENCE_SECONDS = 1.0


class Remotes:
    """What is written to now. `now` reads the clock; `behind` hears by name how much each has not got."""

    def __init__(self, now: Callable[[], Instant], behind: Callable[[str, Duration], None]) -> None:
        self._now = now
        self._behind = behind
        self._running: list[_Running] = []

    def leave(self) -> None:
        """Send nothing more, but what is under way; nothing more is heard of how much is behind."""
        for one in self._running:
            one.leave()

    def begin(self, writers: Iterable[Writer]) -> None:
        """
        Write by these, in the place of those before, from now on.

        Waits for nobody: whose receiver hangs is waited for by who comes after him, by the same name.
        """
        self.leave()
        before = {one.writer.name: one for one in self._running}
        self._running = [_Running(writer, self._now, self._behind, before.get(writer.name)) for writer in writers]

    def stop(self) -> None:
        """What waits is sent when somebody begins again."""
        self.leave()
        end = monotonic_seconds() + PATIENCE_SECONDS
        for one in self._running:
            one.thread.join(max(end - monotonic_seconds(), 0))
        self._running = []

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        for one in self._running:
            one.writer.shift(by)


class _Running:
    def __init__(
        self,
        writer: Writer,
        now: Callable[[], Instant],
        behind: Callable[[str, Duration], None],
        before: "_Running | None",
    ) -> None:
        self.writer = writer
        self._stopping = threading.Event()
        self._telling = threading.Lock()
        self._now = now
        self._behind = behind
        self.thread = threading.Thread(target=self._run, args=(before,), name="remote write", daemon=True)
        self.thread.start()

    def leave(self) -> None:
        with self._telling:
            self._stopping.set()

    def _run(self, before: "_Running | None") -> None:
        if before is not None:
            # Two at once would send in any order, and each say where it stands.
            before.thread.join()
            self.writer.follow(before.writer)
        wait: Duration = 0
        while not self._stopping.wait(to_seconds(wait)):
            wait = self._step()

    def _step(self) -> Duration:
        try:
            wait = self.writer.step(self._now())
        except Exception:  # whatever one receiver brings about, the next step may go well
            log.exception("remote write failed unexpectedly", extra={"remote": self.writer.name})
            wait = MINUTE
        with self._telling:
            if not self._stopping.is_set():
                self._behind(self.writer.name, self.writer.behind())
        return wait
