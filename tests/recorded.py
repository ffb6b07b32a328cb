"""A real vLLM server, played back: serves over HTTP what was recorded, as of the instant of a clock that is moved."""

import gzip
import json
import threading
from bisect import bisect_right
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from monitor.clock import Clock
from monitor.model.instant import Instant, from_seconds

RECORDINGS = Path(__file__).parent / "data" / "recordings"


@dataclass(frozen=True)
class Recording:
    """Scrapes of a real server; `times` are ascending."""

    times: tuple[Instant, ...]
    pages: tuple[str | None, ...]

    @classmethod
    def load(cls, name: str) -> Self:
        with gzip.open(RECORDINGS / f"{name}.jsonl.gz", "rt") as lines:
            scrapes: list[dict[str, Any]] = [json.loads(line) for line in lines]
        return cls(tuple(from_seconds(one["time"]) for one in scrapes), tuple(one["body"] for one in scrapes))

    def page(self, at: Instant) -> str | None:
        """Return the newest page recorded at or before `at`; None: the server did not answer then."""
        position = bisect_right(self.times, at) - 1
        return self.pages[position] if position >= 0 else None


class RecordedServer:
    """Serves a recording on a loopback port as of the time of `clock`."""

    def __init__(self, recording: Recording, clock: Clock) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                page = recording.page(clock.now())
                body = (page or "").encode()
                self.send_response(200 if page is not None else 503)
                self.send_header("Content-Type", "text/plain; version=1.0.0; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
