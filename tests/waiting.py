"""Waiting for what another thread or process does: with a limit, and without guessing how long it takes."""

import threading
from collections.abc import Callable
from typing import TypeVar

from monitor.clock import monotonic_seconds

T = TypeVar("T")

# A machine that does three things at once is no fault of what is tested; who waits in vain waits longer, that is all.
_BUSY = 3


def until(look: Callable[[], T | None], within: float) -> T:
    """Return the first true value of `look`; an AssertionError after `within` seconds, on a busy machine after more."""
    end = monotonic_seconds() + within * _BUSY
    pause = threading.Event()
    while not (found := look()):
        assert monotonic_seconds() < end, f"not seen within {within * _BUSY} s"
        pause.wait(0.02)
    return found
