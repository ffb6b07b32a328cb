"""Threads for scrapes that never keep the process from ending."""

import queue
import threading
from collections.abc import Callable

MOST_THREADS = 64


class Workers:
    """
    A pool of daemon threads, started as they are needed.

    `concurrent.futures` joins its threads when the interpreter ends, so one server that hangs would hold up SIGTERM.
    A job must not raise.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def submit(self, job: Callable[[], None]) -> None:
        with self._lock:
            # Below zero: so many jobs wait for a thread.
            self._idle -= 1
            if self._idle < 0 and self._threads < self._most:
                self._threads += 1
                self._idle += 1
                threading.Thread(target=self._work, name=f"scrape {self._threads}", daemon=True).start()
        self._jobs.put(job)

    def stop(self) -> None:
        """Let the threads end after the jobs they have."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._idle += 1
