"""The HTTP server: the application on waitress' threads."""

import contextlib
import threading
from typing import Any

import waitress
from flask import Flask
from waitress import wasyncore

from monitor.web import gate
from monitor.web.application import LARGEST_BODY_BYTES

# However many queries run or wait, some threads are left for health and metrics.
THREADS = gate.RUNNING + gate.WAITING + 4
# How long the end waits for a query that still runs; then that is left to end with the process.
PATIENCE_SECONDS = 0.5
# Connections that say nothing must not keep a health check out: enough of them, and none for long.
MOST_CONNECTIONS = 500
IDLE_SECONDS = 10


class Server:
    """Serves the application on one address until stopped. Raises OSError when the address cannot be bound."""

    def __init__(self, app: Flask, host: str, port: int) -> None:
        self._map: dict[int, Any] = {}
        try:
            self._server: Any = waitress.create_server(
                app,
                map=self._map,
                host=host,
                port=port,
                threads=THREADS,
                max_request_body_size=LARGEST_BODY_BYTES,
                connection_limit=MOST_CONNECTIONS,
                channel_timeout=IDLE_SECONDS,
                cleanup_interval=IDLE_SECONDS // 2,
                ident="vllm-monitor",
            )
        except BaseException:
            # What could not be bound, and the addresses of the same name that could, have sockets and threads by now.
            for dispatcher in {one.task_dispatcher for one in self._map.values() if hasattr(one, "task_dispatcher")}:
                dispatcher.shutdown(timeout=PATIENCE_SECONDS)
            wasyncore.close_all(self._map)
            raise
        # A name such as localhost may stand for several addresses.
        several = getattr(self._server, "effective_listen", None)
        self.port: int = several[0][1] if several else self._server.effective_port
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Close all connections. Only the thread that waits for them may do it without a race."""
        self._stopping.set()
        if not self._thread.is_alive():
            self._close()
            return
        self._wake()
        self._thread.join(2 * PATIENCE_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            wasyncore.loop(timeout=1.0, map=self._map, count=1)
        self._close()

    def _close(self) -> None:
        self._server.task_dispatcher.shutdown(timeout=PATIENCE_SECONDS)
        wasyncore.close_all(self._map)

    def _wake(self) -> None:
        triggers = [one for one in list(self._map.values()) if hasattr(one, "pull_trigger")]
        # It may have seen that it is to stop, and closed the trigger, in the meantime.
        with contextlib.suppress(OSError):
            for trigger in triggers[:1]:
                trigger.pull_trigger()
