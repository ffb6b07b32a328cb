"""How commands ask: no server holds them longer than they said, however it answers."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests

from monitor.commands.ask import Way, _Connection, way_of
from monitor.notify.transport import CutOff
from tests.scrape.test_fetch import SURELY_OVER, drip_body, drip_chunks, drip_header, drip_status_line, say_nothing
from tests.scrape.test_tls import make, serving_tls
from tests.scrape.wire import Answering, Served, head, serving


def drip_without_end(served: Served, connection: socket.socket) -> bool:
    """What ends with the connection: an answer that is cut looks whole."""
    connection.sendall(head(None, headers={"Connection": "close"}))
    served.drip(connection, b"x" * 1300)
    return False


SLOW = [say_nothing, drip_status_line, drip_header, drip_body, drip_chunks, drip_without_end]


def given_up(ask: Callable[[], object]) -> float:
    """Return the seconds that it took to give up."""
    begun = time.monotonic()
    with pytest.raises(requests.Timeout):
        ask()
    return time.monotonic() - begun


@pytest.mark.parametrize("answer", SLOW)
def test_a_server_that_drips_does_not_outlive_the_time_for_the_whole(answer: Answering, tmp_path: Path) -> None:
    certificate, key = make(tmp_path, "own", "IP:127.0.0.1")
    shown = tmp_path / "http.yml"
    shown.write_text(f"tls_config: {{ca_file: {certificate}}}\n")
    with serving(answer) as plain, serving_tls(certificate, key, answer=answer) as secure:
        assert given_up(lambda: Way()("GET", plain.url, timeout=0.3)) < SURELY_OVER
        assert given_up(lambda: way_of(shown)("GET", secure.url, timeout=0.3)) < SURELY_OVER


@contextmanager
def dripping(path: str) -> Iterator[None]:
    """Answer one connection to a Unix socket byte by byte, without end."""
    over = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        # Whoever gave up is not there any more.
        with connection, suppress(OSError):
            while not over.wait(0.05):
                connection.send(b"H")

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        thread = threading.Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(SURELY_OVER)


def test_nor_does_one_behind_a_unix_socket(tmp_path: Path) -> None:
    path = str(tmp_path / "web.sock")
    with dripping(path):
        took = given_up(lambda: Way(inner=path)("GET", "http://daemon/metrics", timeout=0.3))
    assert took < SURELY_OVER


def test_a_unix_socket_that_is_not_there_is_closed_again(tmp_path: Path) -> None:
    with CutOff(60) as cut:
        with pytest.raises(FileNotFoundError):
            _Connection(str(tmp_path / "gone.sock"), cut).connect()
        assert [one.fileno() for one in cut._sockets] == [-1]
