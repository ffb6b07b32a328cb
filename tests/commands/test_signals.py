"""What signals ask of the daemon."""

import queue
import signal
import threading
from signal import SIGHUP, SIGINT, SIGTERM, SIGUSR1

import pytest

from monitor.commands.signals import means_reload


@pytest.mark.parametrize(
    ("sent", "reload"),
    [
        pytest.param([SIGHUP], True, id="reload"),
        pytest.param([SIGHUP] * 200, True, id="a storm is one reload"),
        pytest.param([SIGTERM], False, id="end"),
        pytest.param([*[SIGHUP] * 200, SIGTERM, SIGHUP], False, id="the end does not wait for reloads"),
        pytest.param([SIGHUP, SIGINT], False, id="interrupted"),
    ],
)
def test_what_signals_ask_for(sent: list[int], *, reload: bool) -> None:
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in sent:
        signals.put(number)
    assert means_reload(signals) is reload
    assert signals.empty()


def test_a_signal_that_does_not_wake_the_one_who_waits_is_not_lost() -> None:
    """As when it comes in the instant before the wait: another thread has it, and the main thread sleeps on."""
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    before = signal.signal(SIGUSR1, lambda number, _frame: signals.put(number))

    def interrupt_itself() -> None:
        threading.Event().wait(0.2)
        signal.pthread_kill(threading.get_ident(), SIGUSR1)

    try:
        threading.Thread(target=interrupt_itself, daemon=True).start()
        assert means_reload(signals) is False
    finally:
        signal.signal(SIGUSR1, before)
