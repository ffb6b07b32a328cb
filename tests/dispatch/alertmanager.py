"""A real Alertmanager, and a receiver for its webhooks."""

import http.server
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from monitor.clock import monotonic_seconds
from tests.engines import engine
from tests.ports import free_port
from tests.waiting import until


@dataclass
class Webhooks:
    """What was posted, with the seconds on the monotonic clock at which it came; the path names the receiver."""

    port: int
    posted: list[tuple[float, str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def webhooks() -> Iterator[Webhooks]:
    posted: list[tuple[float, str, Any]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            posted.append((monotonic_seconds(), self.path.strip("/"), body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(http.server.ThreadingHTTPServer):
        # Many groups are told at once; a connection that finds no place comes again a second later.
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Webhooks(server.server_port, posted)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def alertmanager(folder: Path, config: str, suite: str = "newer") -> Iterator[str]:
    """Run an Alertmanager on `config`; yields its URL."""
    path = folder / "alertmanager.yml"
    path.write_text(config)
    url = f"http://127.0.0.1:{free_port()}"
    command = [
        engine("prometheus-alertmanager", suite),
        f"--config.file={path}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address={url.removeprefix('http://')}",
        "--cluster.listen-address=",
        "--log.level=error",
    ]
    with (folder / "alertmanager.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        until(lambda: _is_ready(url), within=20)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def _is_ready(url: str) -> bool:
    try:
        return requests.get(f"{url}/-/ready", timeout=10).ok
    except requests.RequestException:
        return False
