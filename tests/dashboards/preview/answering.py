"""Somebody who answers as Prometheus does, and remembers what was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Answering:
    """Gives each path below /api/v1 the data of `data`; what is not there is an error."""

    data: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def answer(self, target: str) -> dict[str, Any]:
        parts = urlsplit(target)
        path = parts.path.removeprefix("/api/v1/")
        self.asked.append((path, {key: values[0] for key, values in parse_qs(parts.query).items()}))
        if path in self.data:
            return {"status": "success", "data": self.data[path]}
        return {"status": "error", "errorType": "bad_data", "error": f"nobody knows {path}"}


@contextmanager
def answering(**data: Any) -> Iterator[Answering]:
    stand_in = Answering({path.replace("__", "/"): value for path, value in data.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.path = f"{self.path}?{form}"
            self.do_GET()

        def do_GET(self) -> None:
            body = json.dumps(stand_in.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stand_in.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
