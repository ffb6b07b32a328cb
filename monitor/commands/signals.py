"""What the signals that reach the daemon ask of it."""

import queue
import signal


def means_reload(signals: "queue.SimpleQueue[int]") -> bool:
    """
    Wait for a signal; returns whether to reload, else to end.

    However many SIGHUP have come meanwhile, one reload answers them all; and whatever ends the daemon comes before it.
    """
    waiting = [signals.get()]
    while not signals.empty():
        waiting.append(signals.get())
    return all(number == signal.SIGHUP for number in waiting)
