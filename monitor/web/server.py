"""The HTTP server: the application on waitress' threads, behind TLS where that is wanted."""

import contextlib
import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import waitress
from flask import Flask
from waitress import wasyncore

from monitor.clock import SystemClock
from monitor.web import access, gate, inner
from monitor.web.received import LARGEST_MESSAGE_BYTES

if TYPE_CHECKING:
    from monitor.web.tls import TlsFiles, TlsFront

log = logging.getLogger(__name__)

# However many queries run or wait, and however many guess passwords, some threads are left for health and metrics.
THREADS = gate.RUNNING + gate.WAITING + access.GUESSING + 4
# How long the end waits for a query that still runs; then that is left to end with the process.
PATIENCE_SECONDS = 0.5
# And for the address to be free again, which takes no time but on a machine that is very busy.
FREE_SECONDS = 30.0
# Connections that say nothing must not keep a health check out: enough of them, and none for long.
MOST_CONNECTIONS = 500
IDLE_SECONDS = 10
# What no path takes is refused before it is read; whoever takes less, and counts it, still sees twice as much.
LARGEST_BODY_BYTES = 2 * LARGEST_MESSAGE_BYTES


class Server:
    """Serves the application on one address until stopped. Raises OSError when the address cannot be bound."""

    def __init__(
        self,
        app: Flask,
        host: str,
        port: int,
        tls: "TlsFiles | None" = None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """`failed` hears of connections that speak no TLS, where they should; a bad file raises OSError, ValueError."""
        self._map: dict[int, Any] = {}
        self._app = app
        self._front: TlsFront | None = None
        # Where it is asked past TLS, by those who may read the folder: by this user's processes.
        self.inner: Path | None = None
        if tls is None:
            self._server: Any = _created(app, self._map, host=host, port=port)
            # A name such as localhost may stand for several addresses.
            several = getattr(self._server, "effective_listen", None)
            self.port: int = several[0][1] if several else self._server.effective_port
        else:
            inner.sweep(SystemClock().now())
            self.inner = inner.new_place()
            self._server, self._front = self._behind(app, tls, (host, port), self.inner, failed)
            self.port = self._front.port
        self._cleared = False
        self._stopping, self._free = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def _behind(
        self, app: Flask, tls: "TlsFiles", address: tuple[str, int], place: Path, failed: Callable[[], None]
    ) -> "tuple[Any, TlsFront]":
        from monitor.web.tls import TlsFront  # asyncio, which nobody else has in memory

        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, place.parent, ignore_errors=True)
            front = TlsFront(tls, address, place, failed)
            undo.callback(front.stop)
            behind = _created(app, self._map, **_inside(place))
            undo.pop_all()
        return behind, front

    def start(self) -> None:
        self._thread.start()
        if self._front is not None:
            self._front.start()

    def stop(self) -> None:
        """
        Close all connections. Only the thread that waits for them may do it without a race.

        Another one may listen on the address then: whoever goes on duty does at once, on the same.
        """
        self._stopping.set()
        if self._front is not None:
            self._front.stop()
        if not self._thread.is_alive():
            self._close()
            return
        self._wake()
        self._free.wait(FREE_SECONDS)
        self._thread.join(2 * PATIENCE_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            # select, which is the default, knows no descriptors above 1023.
            wasyncore.loop(timeout=1.0, use_poll=True, map=self._map, count=1)
            if self.inner is not None and not self.inner.is_socket():
                self._reopen(self.inner)
        self._close()

    def _reopen(self, place: Path) -> None:
        """Listen anew where the socket was: somebody has cleaned up, and nobody comes through TLS without it."""
        old = self._server
        try:
            inner.make_folder(place.parent)
            self._server = _created(self._app, self._map, old.task_dispatcher, **_inside(place))
        except OSError as err:
            if not self._cleared:
                log.error("the socket behind TLS is gone", extra={"path": str(place), "reason": str(err)})
            self._cleared = True
            return
        log.warning("the socket behind TLS was gone: it is there again", extra={"path": str(place)})
        self._cleared = False
        # Of the old one only what listened: requests that are under way still wake the loop by it.
        wasyncore.dispatcher.close(old)

    def _close(self) -> None:
        for one in list(self._map.values()):
            if one.accepting:
                # Of what listens only the socket: requests that are under way still wake the loop by the rest.
                wasyncore.dispatcher.close(one)
        self._free.set()
        self._server.task_dispatcher.shutdown(timeout=PATIENCE_SECONDS)
        wasyncore.close_all(self._map)
        if self.inner is not None:
            shutil.rmtree(self.inner.parent, ignore_errors=True)

    def _wake(self) -> None:
        triggers = [one for one in list(self._map.values()) if hasattr(one, "pull_trigger")]
        # It may have seen that it is to stop, and closed the trigger, in the meantime.
        with contextlib.suppress(OSError):
            for trigger in triggers[:1]:
                trigger.pull_trigger()


def _inside(place: Path) -> dict[str, str]:
    return {"unix_socket": str(place), "unix_socket_perms": "600", "url_scheme": "https"}


def _created(app: Flask, sockets: dict[int, Any], dispatcher: Any = None, /, **where: Any) -> Any:
    before = set(sockets)
    try:
        return waitress.create_server(
            app,
            map=sockets,
            _dispatcher=dispatcher,
            threads=THREADS,
            max_request_body_size=LARGEST_BODY_BYTES,
            connection_limit=MOST_CONNECTIONS,
            channel_timeout=IDLE_SECONDS,
            cleanup_interval=IDLE_SECONDS // 2,
            ident="vllm-monitor",
            **where,
        )
    except BaseException:
        # What could not be bound, and the addresses of the same name that could, have sockets and threads by now.
        left = {number: one for number, one in sockets.items() if number not in before}
        for own in {one.task_dispatcher for one in left.values() if hasattr(one, "task_dispatcher")} - {dispatcher}:
            own.shutdown(timeout=PATIENCE_SECONDS)
        wasyncore.close_all(left)
        raise
