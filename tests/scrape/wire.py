"""A server on loopback that answers with whatever bytes a test likes, at whatever pace."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass
class Served:
    """What a test sees of the server: where it is, and the heads of the requests it got."""

    port: int
    scheme: str
    heads: list[str] = field(default_factory=list)
    connections: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/metrics"

    def headers(self) -> dict[str, str]:
        """Return the headers of the last request, names in small letters."""
        lines = self.heads[-1].split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def drip(self, connection: socket.socket, data: bytes, *, every: float = 0.05) -> None:
        """Send `data` byte by byte, until it or the test is over."""
        for k in range(len(data)):
            if self.stopping.wait(every):
                return
            connection.sendall(data[k : k + 1])


# Sends an answer to one request; the connection is kept while this returns True.
Answering = Callable[[Served, socket.socket], bool]


def page(
    body: bytes,
    *,
    content_type: str | None = TEXT_TYPE,
    status: str = "200 OK",
    headers: Mapping[str, str] | None = None,
) -> Answering:
    """Answer every request with `body`."""

    def answer(_: Served, connection: socket.socket) -> bool:
        connection.sendall(head(len(body), content_type=content_type, status=status, headers=headers) + body)
        return True

    return answer


def head(
    length: int | None,
    *,
    content_type: str | None = TEXT_TYPE,
    status: str = "200 OK",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Return the head of an answer."""
    lines = [f"HTTP/1.1 {status}"]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode()


class _Server:
    """Accepts connections until it is closed; every connection has its own thread."""

    def __init__(self, listener: socket.socket, served: Served, answer: Answering, tls: ssl.SSLContext | None) -> None:
        self._served, self._answer, self._tls = served, answer, tls
        self._open = [listener]
        self._threads = [threading.Thread(target=self._accept, args=(listener,))]
        self._threads[0].start()

    def close(self) -> None:
        self._served.stopping.set()
        _end(self._open[0])
        # One that has just been accepted must not be overlooked.
        self._threads[0].join()
        for one in self._open[1:]:
            _end(one)
        for thread in self._threads[1:]:
            thread.join()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self._open.append(connection)
                self._served.connections += 1
                self._threads.append(threading.Thread(target=self._talk, args=(connection,)))
                self._threads[-1].start()

    def _talk(self, plain: socket.socket) -> None:
        with suppress(OSError), self._tls.wrap_socket(plain, server_side=True) if self._tls else plain as connection:
            self._open.append(connection)
            while request := _request(connection):
                self._served.heads.append(request)
                if not self._answer(self._served, connection):
                    return


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def serving(answer: Answering, *, tls: ssl.SSLContext | None = None, scheme: str = "") -> Iterator[Served]:
    """Serve on a free port of loopback until the test is over."""
    listener = socket.create_server(("127.0.0.1", 0))
    served = Served(listener.getsockname()[1], scheme or ("https" if tls else "http"))
    server = _Server(listener, served, answer, tls)
    try:
        yield served
    finally:
        server.close()


def _request(connection: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        more = connection.recv(65536)
        if not more:
            return ""
        data += more
    return data.decode().removesuffix("\r\n\r\n")
