"""Threads for scrapes and probes that never keep the process from ending."""

import queue
import threading
from collections.abc import Callable, Hashable

# A target that does not answer occupies a thread for its whole timeout; those that answer must not wait for one. A
# thread that waits costs little, and there are never more than targets.
MOST_THREADS = 512

Job = Callable[[], None]


class Workers:
    """
    A pool of daemon threads, started as they are needed. Of the jobs of one key never two run at the same time.

    `concurrent.futures` joins its threads when the interpreter ends, so one server that hangs would hold up SIGTERM.
    A job must not raise. `name` is that of the threads.
    """

    def __init__(self, most: int = MOST_THREADS, name: str = "scrape") -> None:
        self._most = most
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Hashable, Job] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._busy: set[Hashable] = set()
        self._threads = 0
        self._idle = 0

    def submit(self, key: Hashable, job: Job) -> bool:
        """Have `job` run soon; returns False, and leaves it, while the last job of `key` has not ended."""
        with self._lock:
            if key in self._busy:
                return False
            self._busy.add(key)
            # Below zero: so many jobs wait for a thread.
            self._idle -= 1
            if self._idle < 0 and self._threads < self._most:
                self._threads += 1
                self._idle += 1
                threading.Thread(target=self._work, name=f"{self._name} {self._threads}", daemon=True).start()
        self._jobs.put((key, job))
        return True

    def is_idle(self) -> bool:
        """Whether no job waits or runs."""
        with self._lock:
            return not self._busy

    def stop(self) -> None:
        """Let the threads end after the jobs they have."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self) -> None:
        while (given := self._jobs.get()) is not None:
            key, job = given
            job()
            with self._lock:
                self._busy.discard(key)
                self._idle += 1
