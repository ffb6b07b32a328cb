"""
An API server of Kubernetes on the loopback: lists with pages, watches with bookmarks, and all that goes wrong.

Strict: what the real one would refuse is noted in `complaints`, which a test expects to be empty.
"""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
GROUPS = {
    "pods": "/api/v1",
    "services": "/api/v1",
    "endpoints": "/api/v1",
    "nodes": "/api/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
}
KINDS = {
    "pods": "Pod",
    "services": "Service",
    "endpoints": "Endpoints",
    "nodes": "Node",
    "endpointslices": "EndpointSlice",
}
WHOLE = 1_000_000
TOKEN = "eyJhbGciOi.the-token"


@dataclass
class Event:
    version: int
    type: str
    plural: str
    obj: Json


@dataclass
class ApiServer:
    """
    A cluster that a test changes.

    `objects` by plural and key. `broken` are statuses to answer for a plural in the place of an answer; `expired`:
    older versions than this are gone (410); `cut`: every watch breaks off when it has said so many lines.
    """

    objects: dict[str, dict[str, Json]] = field(default_factory=lambda: {plural: {} for plural in GROUPS})
    broken: dict[str, int] = field(default_factory=dict)
    expired: int = 0
    cut: int = WHOLE
    page: int = WHOLE
    complaints: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    watches: list[str] = field(default_factory=list)
    version: int = 100
    url: str = ""
    _events: list[Event] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _ended: bool = False
    _generation: int = 0

    def put(self, plural: str, obj: Json) -> None:
        key = key_of(obj)
        self._happens("MODIFIED" if key in self.objects[plural] else "ADDED", plural, obj)

    def delete(self, plural: str, key: str) -> None:
        self._happens("DELETED", plural, self.objects[plural][key])

    def bookmark(self) -> None:
        """Tell all watches how far they are."""
        for plural in GROUPS:
            self._happens("BOOKMARK", plural, {"metadata": {}})

    def forget(self) -> None:
        """Compact: all that has been is too old for a watch, and those under way are cut."""
        with self._changed:
            self.version += 1
            self.expired = self.version
            self._generation += 1
            self._changed.notify_all()

    def hang_up(self) -> None:
        """Cut all watches."""
        with self._changed:
            self._generation += 1
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _happens(self, kind: str, plural: str, obj: Json) -> None:
        with self._changed:
            self.version += 1
            version = str(self.version)
            new = {**obj, "metadata": {**obj["metadata"], "resourceVersion": version}}
            new |= {"apiVersion": GROUPS[plural].removeprefix("/apis/").removeprefix("/api/"), "kind": KINDS[plural]}
            if kind == "DELETED":
                del self.objects[plural][key_of(obj)]
            elif kind != "BOOKMARK":
                self.objects[plural][key_of(obj)] = new
            self._events.append(Event(self.version, kind, plural, new))
            self._changed.notify_all()

    def listed(self, plural: str, namespace: str, query: dict[str, str]) -> tuple[int, Json]:
        with self._changed:
            start = 0
            if "continue" in query:
                version, start = (int(part) for part in query["continue"].split("."))
                if version < self.expired:
                    return 410, status(410, "The provided continue parameter is too old")
            items = [
                obj
                for _, obj in sorted(self.objects[plural].items())
                if namespace in ("", obj["metadata"].get("namespace"))
            ]
            limit = min(int(query.get("limit") or len(items) + 1), self.page)
            meta = {"resourceVersion": str(self.version)}
            if start + limit < len(items):
                meta["continue"] = f"{self.version}.{start + limit}"
            group = GROUPS[plural].removeprefix("/apis/").removeprefix("/api/")
            return 200, {
                "kind": f"{KINDS[plural]}List",
                "apiVersion": group,
                "metadata": meta,
                # In a list the objects do not say what they are.
                "items": [
                    {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
                    for obj in items[start : start + limit]
                ],
            }

    def watched(self, plural: str, namespace: str, after: int) -> Iterator[Json]:
        generation, said, position = self._generation, 0, 0
        while True:
            with self._changed:
                # Older versions may have been forgotten since the question came.
                while not self._is_over(generation, after) and len(self._events) == position:
                    self._changed.wait()
                if self._is_over(generation, after):
                    return
                new, position = self._events[position:], len(self._events)
            for event in new:
                inside = namespace in ("", event.obj["metadata"].get("namespace")) or event.type == "BOOKMARK"
                if event.plural == plural and event.version > after and inside:
                    yield {"type": event.type, "object": event.obj}
                    said += 1
                    if said >= self.cut:
                        return

    def _is_over(self, generation: int, after: int) -> bool:
        return self._ended or self._generation != generation or after < self.expired


def key_of(obj: Json) -> str:
    meta = obj["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])


def status(code: int, message: str) -> Json:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}


class Handler(BaseHTTPRequestHandler):
    """One connection to the server that `told` is about."""

    told: ApiServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        plural = parts.path.rsplit("/", 1)[-1]
        code = self._refusal(plural, parts.path)
        inside = parts.path.removeprefix(GROUPS.get(plural, "")).strip("/").split("/")
        namespace = inside[1] if len(inside) == 3 else ""
        if code:
            self._answer(code, status(code, f"{plural} is not for you"))
        elif query.get("watch") in ("1", "true"):
            self._watch(plural, namespace, query)
        else:
            self.told.lists.append(self.path)
            self._answer(*self.told.listed(plural, namespace, query))

    def _refusal(self, plural: str, path: str) -> int:
        if plural not in GROUPS or not path.startswith(GROUPS[plural]):
            self.told.complaints.append(f"no such path: {path}")
            return 404
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401
        return self.told.broken.get(plural, 0)

    def _watch(self, plural: str, namespace: str, query: dict[str, str]) -> None:
        if "sendInitialEvents" in query:
            # As a server that does not stream lists: client-go lists then.
            self._answer(422, status(422, "sendInitialEvents is forbidden") | {"reason": "Invalid"})
            return
        self.told.watches.append(self.path)
        if not query.get("resourceVersion") or query.get("allowWatchBookmarks") != "true":
            self.told.complaints.append(f"a watch without a version or bookmarks: {self.path}")
        if not query.get("timeoutSeconds"):
            self.told.complaints.append(f"a watch without an end: {self.path}")
        after = int(query.get("resourceVersion") or 0)
        if after < self.told.expired:
            self._answer(410, status(410, "too old resource version"))
        else:
            self._stream(plural, namespace, after)

    def _stream(self, plural: str, namespace: str, after: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for event in self.told.watched(plural, namespace, after):
            line = json.dumps(event).encode() + b"\n"
            # In two pieces: a line need not come at once.
            for piece in (line[:7], line[7:]):
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
        self.close_connection = True
        if self.told.cut == WHOLE:
            self.wfile.write(b"0\r\n\r\n")

    def _answer(self, code: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle(self) -> None:
        # Whoever has stopped to read is gone.
        with suppress(BrokenPipeError, ConnectionResetError):
            super().handle()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(certificate: str = "", key: str = "") -> Iterator[ApiServer]:
    """Serve on a free port of the loopback, with TLS where there is a certificate."""
    server = ApiServer()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"told": server}))
    httpd.daemon_threads = True
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    server.url = f"{'https' if certificate else 'http'}://127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        httpd.shutdown()
        httpd.server_close()
        thread.join()
