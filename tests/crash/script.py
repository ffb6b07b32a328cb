"""What the watched server of a crash run lives through: series that rise and fall by dice, and a page that fails."""

from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from random import Random
from threading import Event, Thread
from typing import Self

from monitor.clock import Clock
from monitor.model.instant import Duration, Instant

# Each alert of RULES with the series it reads.
SERIES: tuple[tuple[str, str], ...] = (
    *(("now", name) for name in "abc"),
    *(("kept", name) for name in "ab"),
    *(("held", name) for name in "ab"),
    *(("both", name) for name in "ab"),
)

RULES = """\
groups:
  - name: instant
    rules:
      - {alert: Now, expr: 'level{kind="now"} > 0', annotations: &words {summary: "{{ $labels.k }} at {{ $value }}"}}
      - {alert: Kept, expr: 'level{kind="kept"} > 0', keep_firing_for: 300ms, annotations: *words}
      - {alert: Down, expr: up == 0, annotations: *words}
  - name: patient
    interval: 200ms
    rules:
      - {alert: Held, expr: 'level{kind="held"} > 0', for: 200ms, annotations: *words}
      - {alert: Both, expr: 'level{kind="both"} > 0', for: 200ms, keep_firing_for: 300ms, annotations: *words}
"""


@dataclass(frozen=True)
class Script:
    """Says by its seed which series are up when: whoever asks for the same instant gets the same answer."""

    seed: int

    def is_up(self, series: int, at: Instant) -> bool:
        """Say whether the series of this number is up; each has a beat of its own."""
        beat: Duration = 170 + 70 * series
        return Random(f"{self.seed}/{series}/{at // beat}").random() < 0.45  # noqa: S311 - a seeded script

    def fails(self, at: Instant) -> bool:
        return Random(f"{self.seed}/page/{at // 230}").random() < 0.06  # noqa: S311 - a seeded script


class PageServer:
    """Serves the page of the script on a loopback port until `calm` is set: from then on every series is down."""

    def __init__(self, script: Script, clock: Clock) -> None:
        self.calm = Event()
        serial = count(1)

        def page() -> str | None:
            at = clock.now()
            if not self.calm.is_set() and script.fails(at):
                return None
            # A value is never seen twice, so that no two messages are alike.
            value = next(serial)
            return "".join(
                f'level{{kind="{kind}",k="{name}"}} {0 if self.calm.is_set() else value * script.is_up(number, at)}\n'
                for number, (kind, name) in enumerate(SERIES)
            )

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                text = page()
                body = (text or "").encode()
                self.send_response(503 if text is None else 200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
                """Stay quiet."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """Say nothing: who asks here is killed in the middle on purpose."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
