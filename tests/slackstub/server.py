"""The HTTP side: reads a request, lets a fault have its way, answers."""

import json
import socket
import struct
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.slackstub.answers import Call, LimitedError, Payload, Refused
from tests.slackstub.faults import Answer, Close, Cut, Drip, Fault, Hang, Late, Reset, SlackError, Twice
from tests.slackstub.files import UPLOADS, receive
from tests.slackstub.methods import METHODS, post_to_hook
from tests.slackstub.workspace import Workspace

API = "/api/"
HOOKS = "/services/"
HOOK_PATH = HOOKS + "T0STUB00000/B0STUB00000/notARealSecret"
_JSON = {"Content-Type": "application/json; charset=utf-8"}
_HOOK_STATUS = {"no_service": 404, "channel_is_archived": 410, "action_prohibited": 403, "channel_not_found": 404}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived: `name` is the method of the Web API, `upload` or `webhook`."""

    name: str
    payload: Payload
    headers: dict[str, str]
    body: bytes = b""
    # In seconds of the workspace's clock.
    at: float = 0.0


class Server(ThreadingHTTPServer):
    """Listens on a free port of the loopback; `journal` has every request in the order of arrival."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.workspace = workspace
        workspace.origin = f"http://127.0.0.1:{self.server_port}"
        self.journal: list[Request] = []
        self.faults: list[tuple[str | None, Fault]] = []
        self.stopping = threading.Event()
        self.lock = threading.Lock()

    def next_fault(self, name: str) -> Fault | None:
        """Take the first fault of the queue that is meant for this method."""
        with self.lock:
            for number, (method, fault) in enumerate(self.faults):
                if method in (None, name):
                    del self.faults[number]
                    return fault
        return None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients of these tests go away in the middle on purpose."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is that of the base class
        del format, args

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        name = path.removeprefix(API) if path.startswith(API) else "upload" if path.startswith(UPLOADS) else "webhook"
        headers = {key.lower(): value for key, value in self.headers.items()}
        request = Request(name, self._payload(body), headers, body, self.server.workspace.seconds())
        with self.server.lock:
            self.server.journal.append(request)
        self.server.workspace.catch_up()
        fault = self.server.next_fault(name)
        if isinstance(fault, Answer):
            if fault.applied:
                self._carry_out(request, path)
            self._send(fault)
        elif fault is None:
            self._send(self._carry_out(request, path))
        else:
            self._break(fault, request, path)

    def do_GET(self) -> None:
        # A client that follows a redirect comes back with GET.
        self.do_POST()

    def _payload(self, body: bytes) -> Payload:
        text = body.decode("utf-8", "replace")
        if "json" in (self.headers.get("Content-Type") or ""):
            try:
                read = json.loads(text)
            except ValueError:
                return {}
            return read if isinstance(read, dict) else {}
        form: Payload = dict(parse_qsl(text))
        for name in ("blocks", "attachments", "metadata", "files"):
            if name in form:
                form[name] = json.loads(form[name])
        return form

    def _carry_out(self, request: Request, path: str) -> Answer:
        if path.startswith(HOOKS):
            return self._hook(request, path)
        if path.startswith(UPLOADS):
            return Answer(receive(self.server.workspace, path, request.body), "OK")
        method = METHODS.get(request.name)
        if method is None:
            return Answer(200, json.dumps({"ok": False, "error": "unknown_method"}), _JSON)
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        token = bearer if scheme == "Bearer" else request.payload.get("token")
        try:
            answer = method(self.server.workspace, Call(request.name, token, request.payload))
        except LimitedError as limited:
            return _too_many(limited)
        except Refused as refused:
            answer = {"ok": False, "error": refused.code, **refused.more}
        if "charset" not in request.headers.get("content-type", ""):
            answer = {**answer, "warning": "missing_charset"}
        scopes = ",".join(sorted(self.server.workspace.tokens.get(token or "", ())))
        return Answer(200, json.dumps(answer), {**_JSON, "X-OAuth-Scopes": scopes})

    def _hook(self, request: Request, path: str) -> Answer:
        try:
            post_to_hook(self.server.workspace, request.payload, known=path == HOOK_PATH)
        except LimitedError as limited:
            return _too_many(limited)
        except Refused as refused:
            return Answer(_HOOK_STATUS.get(refused.code, 400), refused.code, {"Content-Type": "text/plain"})
        return Answer(200, "ok", {"Content-Type": "text/html"})

    def _break(self, fault: Fault, request: Request, path: str) -> None:
        if isinstance(fault, Late):
            workspace = self.server.workspace
            workspace.late.append((workspace.seconds() + fault.seconds, lambda: self._carry_out(request, path)))
            self.close_connection = True
            return
        done = self._carry_out(request, path) if getattr(fault, "applied", True) else Answer(200)
        self.close_connection = True
        if isinstance(fault, Twice):
            self._carry_out(request, path)
            self._send(done)
        elif isinstance(fault, SlackError):
            self._send(Answer(200, json.dumps({"ok": False, "error": fault.code}), _JSON))
        elif isinstance(fault, Reset):
            # Closing with nothing to linger for sends a reset instead of an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif isinstance(fault, Hang):
            self.server.stopping.wait()
        elif isinstance(fault, Cut):
            self._send(done, only=len(done.body) // 2)
        elif isinstance(fault, Drip):
            self._drip(done, fault.pause)
        else:
            assert isinstance(fault, Close)

    def _send(self, answer: Answer, only: int | None = None) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:only])

    def _drip(self, answer: Answer, pause: float) -> None:
        self._send(answer, only=0)
        for byte in answer.body.encode():
            if self.server.stopping.wait(pause):
                return
            self.wfile.write(bytes((byte,)))


def _too_many(limited: LimitedError) -> Answer:
    return Answer(429, '{"ok":false,"error":"ratelimited"}', {**_JSON, "Retry-After": str(limited.retry_after)})
