"""Any address on the loopback that takes what is posted to it, and fails as it is told to."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.slackstub.faults import Answer, Close, Fault, Hang, Reset

PATH = "/hook/notARealSecret"


@dataclass(frozen=True, slots=True)
class Received:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Endpoint:
    """What came, in order, and what goes wrong next; what is right is answered by `answer`."""

    answer: Callable[[Received], Answer] = lambda _: Answer(200)
    requests: list[Received] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    def take(self, received: Received) -> Fault:
        self.requests.append(received)
        return self.faults.pop(0) if self.faults else self.answer(received)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: else each answer waits for an acknowledgement.
    wbufsize = -1
    server: "_Server"

    def do_POST(self) -> None:
        served = self.server.served
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault = served.take(Received(self.command, self.path, headers, body))
        if isinstance(fault, Answer):
            self._send(fault)
            return
        self.close_connection = True
        if isinstance(fault, Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif isinstance(fault, Hang):
            served.stopping.wait()
        else:
            assert isinstance(fault, Close)

    def do_GET(self) -> None:
        self.do_POST()

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, served: Endpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.served = served

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients of these tests go away in the middle on purpose."""


@contextmanager
def endpoint(answer: Callable[[Received], Answer] | None = None) -> Iterator[Endpoint]:
    """Serve until the block ends."""
    served = Endpoint(answer) if answer is not None else Endpoint()
    server = _Server(served)
    served.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        served.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()
