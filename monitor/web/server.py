"""The HTTP server: the application on waitress' threads."""

import threading
from typing import Any

import waitress
from flask import Flask

from monitor.web import gate
from monitor.web.application import LARGEST_BODY_BYTES

# However many queries run or wait, some threads are left for health and metrics.
THREADS = gate.RUNNING + gate.WAITING + 4
# How long a stop waits for answers under way.
STOP_SECONDS = 1


class Server:
    """Serves the application on one address until stopped. Raises OSError when the address cannot be bound."""

    def __init__(self, app: Flask, host: str, port: int) -> None:
        self._server: Any = waitress.create_server(
            app, host=host, port=port, threads=THREADS, max_request_body_size=LARGEST_BODY_BYTES, ident="vllm-monitor"
        )
        self.port: int = self._server.effective_port
        self._thread = threading.Thread(target=self._server.run, name="web", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        # First the threads: one that is not done would wake a server that is gone.
        self._server.task_dispatcher.shutdown(timeout=STOP_SECONDS)
        self._server.close()
