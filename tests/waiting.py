"""Waiting for what another thread or process does: with a limit, and without guessing how long it takes."""

import threading
from collections.abc import Callable
from typing import TypeVar

from monitor.clock import monotonic_seconds

T = TypeVar("T")


def until(look: Callable[[], T | None], within: float) -> T:
    """Return the first true value of `look`; an AssertionError after `within` seconds."""
    end = monotonic_seconds() + within
    pause = threading.Event()
    while not (found := look()):
        assert monotonic_seconds() < end, f"not seen within {within} s"
        pause.wait(0.02)
    return found
