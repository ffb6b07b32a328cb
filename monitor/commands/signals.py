"""What the signals that reach the daemon ask of it."""

import queue
import signal

# A signal that comes in the instant before the wait begins does not wake it; so nobody waits longer than this.
LOOK_SECONDS = 1.0


def caught() -> "queue.SimpleQueue[int]":
    """Return where the signals arrive that end the daemon, or make it reload."""
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: signals.put(number))
    return signals


def means_reload(signals: "queue.SimpleQueue[int]") -> bool:
    """
    Wait for a signal; returns whether to reload, else to end.

    However many SIGHUP have come meanwhile, one reload answers them all; and whatever ends the daemon comes before it.
    """
    waiting = [_next(signals)]
    while not signals.empty():
        waiting.append(signals.get())
    return all(number == signal.SIGHUP for number in waiting)


def _next(signals: "queue.SimpleQueue[int]") -> int:
    while True:
        try:
            return signals.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            # Between two waits Python calls the handlers of what has come.
            continue
