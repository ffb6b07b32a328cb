"""
Connections that end with the scrape.

A timeout of `requests` limits each wait for bytes, so a server that sends one byte a second would hold the slot for
ever, in the headers as well as in the body. Here every wait is cut to what is left of the whole scrape, in the socket
itself. Only the look-up of a name is left to the system's resolver and its own limits.
"""

import socket
import ssl
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from monitor.scrape.errors import Reason, ScrapeError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Deadline:
    """
    Until when the scrape under way must be over, on the clock `seconds`.

    `connections` counts those made so far: it tells whether a request went out on one that was there before.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._end = inf
        self.connections = 0

    def start(self, duration: float) -> None:
        """A scrape begins that may take `duration` seconds."""
        self._end = self._seconds() + duration

    def left(self) -> float:
        """Return the seconds that are left. Raises TimeoutError when none are."""
        left = self._end - self._seconds()
        if left <= 0:
            raise TimeoutError
        return left


class GuardedSocket(socket.socket):
    """A socket whose reads end with the scrape."""

    deadline: Deadline | None = None

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        if self.deadline is not None:
            self.settimeout(self.deadline.left())
        return super().recv_into(buffer, nbytes, flags)


class GuardedTlsSocket(ssl.SSLSocket):
    """The same with TLS."""

    deadline: Deadline | None = None

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0) -> int:
        if self.deadline is not None:
            self.settimeout(self.deadline.left())
        return super().recv_into(buffer, nbytes, flags)


def tls_context(*, verify: bool, system: bool = True) -> ssl.SSLContext:
    """Return a context whose sockets are guarded; it trusts what the system trusts, unless `system` is false."""
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verify else ssl.CERT_NONE)
    context.sslsocket_class = GuardedTlsSocket
    if verify and system:
        context.load_default_certs()
    return context


def connection_classes(deadline: Deadline) -> tuple[type[HTTPConnection], type[HTTPSConnection]]:
    """Return the connections of one fetcher, without and with TLS."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port, deadline)

    class Tls(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return connect(self.host, self.port, deadline)

        def connect(self) -> None:
            super().connect()
            if isinstance(self.sock, GuardedTlsSocket):
                self.sock.deadline = deadline

    return Plain, Tls


def connect(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Return a connection to the first address of `host` that answers. Raises ScrapeError or TimeoutError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as err:
        raise ScrapeError(f"cannot resolve {host}: {_text(err)}", reason=Reason.RESOLVE) from err
    problem: OSError = OSError("no address")
    for k, (family, kind, protocol, _, address) in enumerate(found):
        connection = GuardedSocket(family, kind, protocol)
        try:
            # No address may use up the time of those behind it.
            connection.settimeout(deadline.left() / (len(found) - k))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.connect(address)
        except OSError as err:
            connection.close()
            problem = err
        else:
            connection.deadline = deadline
            deadline.connections += 1
            return connection
    if isinstance(problem, TimeoutError):
        raise problem
    reason = Reason.REFUSED if isinstance(problem, ConnectionRefusedError) else Reason.CONNECTION
    raise ScrapeError(f"cannot connect to {host} port {port}: {_text(problem)}", reason=reason) from problem


def _text(err: Exception) -> str:
    return (getattr(err, "strerror", None) or str(err) or type(err).__name__).lower()
