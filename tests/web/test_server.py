"""The socket side of the HTTP server."""

import gc
import socket
import threading
import warnings
from contextlib import closing

import pytest
from flask import Flask

from monitor.web.server import Server
from tests.waiting import until


def test_an_address_that_is_taken_leaves_neither_sockets_nor_threads_behind() -> None:
    with warnings.catch_warnings():
        # What earlier tests have left behind is not looked at.
        warnings.simplefilter("ignore")
        gc.collect()
    before = set(threading.enumerate())
    with closing(socket.create_server(("127.0.0.1", 0))) as taken, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(OSError, match="in use"):
            Server(Flask("test"), "127.0.0.1", taken.getsockname()[1])
        gc.collect()
    assert [str(one.message) for one in warned] == []
    until(lambda: set(threading.enumerate()) <= before, within=5)


def test_when_it_has_stopped_another_one_listens_on_the_same_address_however_slow_it_was() -> None:
    """As on a machine that is very busy: the thread that waits for connections does not come to its turn."""
    hold, held = threading.Event(), threading.Event()

    class Slow:
        """What is asked, as each connection, whether it waits for something."""

        accepting = False

        def readable(self) -> bool:
            if hold.is_set():
                held.set()
                threading.Event().wait(1.5)
            return False

        def writable(self) -> bool:
            return False

        def close(self) -> None: ...

    first = Server(Flask("test"), "127.0.0.1", 0)
    first._map[-1] = Slow()
    first.start()
    hold.set()
    assert held.wait(60)
    first.stop()
    second = Server(Flask("test"), "127.0.0.1", first.port)
    second.stop()
