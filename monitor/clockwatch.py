"""Notices that somebody has set the clock."""

import threading
from collections.abc import Callable

from monitor.model.instant import SECOND, Duration, Instant

# Less than that between two looks is a clock that is being slewed, and simply followed.
STEP: Duration = SECOND
LOOK_SECONDS = 1.0
# Two readings that lie further apart than that are no pair: something held us up between them.
_PAIR: Duration = 100


class ClockWatch:
    """Compares the wall clock with one that nobody sets and that goes on while the machine sleeps."""

    def __init__(self, wall: Callable[[], Instant], boot: Callable[[], Duration]) -> None:
        self._wall = wall
        self._boot = boot
        self._offset = self._look()

    def watch(self, stopping: threading.Event, tell: Callable[[Duration], None]) -> None:
        """Look every second until `stopping` is set, and `tell` by how much the clock was set."""
        while not stopping.wait(LOOK_SECONDS):
            by = self.stepped()
            if by:
                tell(by)

    def stepped(self) -> Duration:
        """Return by how much the wall clock was set since the last look; 0 when it was not."""
        offset = self._look()
        if offset is None:
            return 0
        before, self._offset = self._offset, offset
        by = 0 if before is None else offset - before
        return by if abs(by) >= STEP else 0

    def _look(self) -> Duration | None:
        before = self._boot()
        wall = self._wall()
        return wall - before if self._boot() - before <= _PAIR else None
