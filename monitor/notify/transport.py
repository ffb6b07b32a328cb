"""
One HTTP request to a receiver, under our rules instead of those of urllib and the SDK.

No redirect is followed (theirs would take the token to whatever host the answer names), the whole exchange has one
deadline, the answer has a greatest size, and a proxy is used only when that was asked for.
"""

import contextlib
import http.client
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
)

from monitor.model.instant import Duration, to_seconds

_LARGEST = 1 << 20


class LastLook:
    """
    What is called when a connection stands and nothing has been sent yet, whoever sends, in the whole process.

    A process may have been stopped for long at any point before, and another one have told the same meanwhile.
    """

    def __init__(self) -> None:
        self._look: Callable[[], None] = _nothing

    def take(self) -> None:
        """Look; does not return to one that must not send."""
        self._look()

    def set(self, look: Callable[[], None]) -> None:
        self._look = look

    def clear(self) -> None:
        self._look = _nothing


def _nothing() -> None:
    """There is nothing to look for."""


LAST_LOOK = LastLook()


def silent_logger() -> logging.Logger:
    """
    Return a logger for the SDK that nobody can turn up.

    At DEBUG the SDK logs the webhook's URL. The logger is in no hierarchy, so no configuration reaches it.
    """
    logger = logging.Logger("slack_sdk", level=logging.CRITICAL + 1)  # noqa: LOG001 - on purpose outside the hierarchy
    logger.addHandler(logging.NullHandler())
    return logger


def is_web_address(url: str) -> bool:
    """Say whether `url` can be requested at all."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever the status; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: str


class Transport:
    """
    Sends requests; `timeout` is for the whole exchange, in milliseconds.

    `context` returns how TLS is spoken, for each request anew; without it, as Python does by default.
    """

    def __init__(
        self,
        timeout: Duration,
        *,
        proxy_from_environment: bool = False,
        context: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._seconds = to_seconds(timeout)
        self._context = context
        # An empty handler stands in the way of the one that urllib would add, which reads the environment.
        self._proxy = ProxyHandler() if proxy_from_environment else ProxyHandler({})

    def send(self, request: Request) -> Answer:
        """
        Return the answer.

        Raises URLError while connecting and sending; TimeoutError, OSError and HTTPException after that; and whatever
        `context` raises.
        """
        context = self._context() if self._context is not None else None
        with CutOff(self._seconds) as deadline:
            handlers = self._proxy, _NoRedirect, _Http(deadline), _Https(deadline, context)
            try:
                response = build_opener(*handlers).open(request, timeout=self._seconds)
            except HTTPError as err:
                response = err
            with response:
                body = response.read(_LARGEST + 1)
        if len(body) > _LARGEST:
            raise http.client.HTTPException("the answer is too large")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, headers, body.decode("utf-8", "replace"))


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class CutOff:
    """
    Cuts the connections when the time is up, so that a server that drips bytes ends like one that is silent.

    Raises TimeoutError at the end of the block then, also when all seemed well: a cut answer looks like a short one.
    """

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._expired = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        if self._expired and (error is None or isinstance(error, OSError | http.client.HTTPException)):
            raise TimeoutError from error

    def watch(self, connected: socket.socket) -> None:
        with self._lock:
            self._sockets.append(connected)
            if self._expired:
                _cut(connected)

    def _expire(self) -> None:
        with self._lock:
            self._expired = True
            for connected in self._sockets:
                _cut(connected)


def _cut(connected: socket.socket) -> None:
    # It may be closed already.
    with contextlib.suppress(OSError):
        # Of the plain socket even under TLS: the reader then sees the end of the stream.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


class _Http(HTTPHandler):
    def __init__(self, deadline: CutOff) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: Request) -> http.client.HTTPResponse:
        deadline = self._deadline

        class Connection(http.client.HTTPConnection):
            def connect(self) -> None:
                super().connect()
                deadline.watch(self.sock)
                LAST_LOOK.take()

        return self.do_open(Connection, request)


class _Https(HTTPSHandler):
    def __init__(self, deadline: CutOff, context: ssl.SSLContext | None) -> None:
        super().__init__()
        self._deadline = deadline
        self._tls = context

    def https_open(self, request: Request) -> http.client.HTTPResponse:
        deadline = self._deadline

        class Connection(http.client.HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                deadline.watch(self.sock)
                LAST_LOOK.take()

        return self.do_open(Connection, request, context=self._tls)
