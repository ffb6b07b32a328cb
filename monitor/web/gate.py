"""How many queries may be at work: the rules come first, and whoever asks for health is answered."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from monitor.clock import monotonic_seconds
from monitor.web.error import ApiError, ErrorType

# All threads of the daemon share one interpreter: each query at work halves what the rules get, and more of them are
# no faster together.
RUNNING = 2
# A dashboard asks for its panels at once.
WAITING = 24


class Gate:
    """Lets a few queries run and a few more wait; turns the rest away."""

    def __init__(self, running: int = RUNNING, waiting: int = WAITING) -> None:
        self._running = threading.BoundedSemaphore(running)
        self._inside = threading.BoundedSemaphore(running + waiting)

    @contextmanager
    def passed(self, seconds: float) -> Iterator[float]:
        """Wait until the query may run; gives what is left of its `seconds`. Raises ApiError."""
        if not self._inside.acquire(blocking=False):
            raise ApiError("too many queries at once", ErrorType.UNAVAILABLE)
        try:
            began = monotonic_seconds()
            if not self._running.acquire(timeout=max(seconds, 0.0)):
                raise ApiError("query timed out in query queue", ErrorType.TIMEOUT)
            try:
                yield seconds - (monotonic_seconds() - began)
            finally:
                self._running.release()
        finally:
            self._inside.release()
