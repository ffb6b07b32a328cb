"""What signals ask of the daemon."""

import queue
from signal import SIGHUP, SIGINT, SIGTERM

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
