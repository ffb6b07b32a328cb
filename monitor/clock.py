"""The only file that reads the time."""

import time
from dataclasses import dataclass
from typing import Protocol

from monitor.model.instant import Duration, Instant


class Clock(Protocol):
    def now(self) -> Instant:
        """Return the present instant in milliseconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> Instant:
        return time.time_ns() // 1_000_000


@dataclass
class VirtualClock:
    """A clock that stands still until it is moved: for replays, the demo and tests."""

    at: Instant = 0

    def now(self) -> Instant:
        return self.at

    def advance(self, by: Duration) -> None:
        self.at += by


def monotonic_seconds() -> float:
    """Return seconds on a clock that never steps: for measuring how long something took."""
    return time.perf_counter()


def monotonic_microseconds() -> int:
    """Return the time on the clock that systemd compares by."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def boot_milliseconds() -> Duration:
    """Return the time since the machine started, its sleep included; nobody sets this clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
