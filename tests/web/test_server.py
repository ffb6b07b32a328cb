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
