"""
How a command speaks to a daemon, a Prometheus or an Alertmanager: with the credentials of `--http.config.file`.

reference: promtool and amtool take a file of this name, whose content is Prometheus' HTTP client configuration.
"""

import socket
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool

from monitor.commands.usage import UsageError
from monitor.config.httpclient import HttpConfig
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import SECOND
from monitor.notify.transport import CutOff
from monitor.yamldoc.compose import read_document
from monitor.yamldoc.mistake import DocumentError
from monitor.yamldoc.report import Report
from monitor.yamldoc.source import read_bytes

# One exchange: method, URL, the seconds for the whole of it as `timeout`, and what requests takes beside them. Raises
# requests.RequestException.
Exchange = Callable[..., requests.Response]


@dataclass(frozen=True, slots=True)
class Way:
    """What is shown to a server, and how TLS is spoken; `inner` is a Unix socket that leads to it past TLS."""

    authorization: str = field(default="", repr=False)
    context: ssl.SSLContext | None = None
    inner: str = ""

    def __call__(self, method: str, url: str, *, timeout: float, **named: Any) -> requests.Response:
        """
        Ask once, for `timeout` seconds in all; a redirect is not followed with what is meant for this server alone.

        The limit of requests is for each wait: a server that sends a byte a second would be waited for without end.
        """
        try:
            with requests.Session() as session, CutOff(timeout) as cut:
                self._prepare(session, cut)
                return session.request(method, url, allow_redirects=not self.authorization, timeout=timeout, **named)
        except TimeoutError as err:
            raise requests.Timeout(f"no whole answer in {timeout:g} seconds") from err

    def _prepare(self, session: requests.Session, cut: CutOff) -> None:
        # A .netrc must not put its own in the place of what was asked for.
        session.trust_env = not self.authorization
        if self.authorization:
            session.headers["Authorization"] = self.authorization
        session.mount("http://", _Inner(self.inner, cut) if self.inner else _Timed(cut))
        if self.context is None:
            session.mount("https://", _Timed(cut))
        else:
            # It was asked for; nobody needs to be told in each answer.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            session.mount("https://", _Secured(self.context, cut))


# Set once a run, by what stands before the command.
_asked: ContextVar[Way | None] = ContextVar("way", default=None)


def use(way: Way) -> None:
    """Ask in this way from now on."""
    _asked.set(way)


def asked_way() -> Way | None:
    """Return the way that the command line asks for, if it does."""
    return _asked.get()


def request(method: str, url: str, *, timeout: float, **named: Any) -> requests.Response:
    """Ask in the way that the command line says, for so many seconds. Raises requests.RequestException."""
    return (asked_way() or Way())(method, url, timeout=timeout, **named)


def way_of(path: Path) -> Way:
    """Return the way that a file describes. Raises UsageError."""
    try:
        report = Report(read_document(read_bytes(path), str(path)), lambda _root, _loc: "")
        config = report.read(HttpConfig)
        report.raise_if_wrong()
        options = (config or HttpConfig()).options(SECOND)
        return Way(options.authorization.header() if options.authorization else "", options.tls.context())
    except (DocumentError, NotifyError) as err:
        raise UsageError(f"--http.config.file: {err}") from err


class _Timed(HTTPAdapter):
    """Its connections end when the time for the whole is up."""

    def __init__(self, cut: CutOff) -> None:
        class Plain(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                cut.watch(self.sock)

        class Secure(HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                cut.watch(self.sock)

        self._classes = {"http": Plain, "https": Secure}
        super().__init__()

    def get_connection_with_tls_context(self, *arguments: Any, **named: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*arguments, **named)
        pool.ConnectionCls = self._classes[pool.scheme]
        return pool


class _Secured(_Timed):
    """Speaks TLS as the context says."""

    def __init__(self, context: ssl.SSLContext, cut: CutOff) -> None:
        self._context = context
        super().__init__(cut)

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        super().init_poolmanager(*arguments, **named, ssl_context=self._context)

    def build_connection_pool_key_attributes(self, *arguments: Any, **named: Any) -> Any:
        host, _ = super().build_connection_pool_key_attributes(*arguments, **named)
        return host, {}

    def cert_verify(self, *_arguments: Any, **_named: Any) -> None:
        """Leave it to the context: what requests would set is its own list of whom to trust."""


class _Inner(HTTPAdapter):
    """Leads every request to one Unix socket."""

    def __init__(self, path: str, cut: CutOff) -> None:
        self._path = path
        self._cut = cut
        super().__init__()

    def get_connection_with_tls_context(self, *_arguments: Any, **_named: Any) -> HTTPConnectionPool:
        return _Pool(self._path, self._cut)


class _Pool(HTTPConnectionPool):
    def __init__(self, path: str, cut: CutOff) -> None:
        self._path = path
        self._cut = cut
        super().__init__("localhost")

    def _new_conn(self) -> HTTPConnection:
        return _Connection(self._path, self._cut)


class _Connection(HTTPConnection):
    def __init__(self, path: str, cut: CutOff) -> None:
        super().__init__("localhost")
        self._path = path
        self._cut = cut

    def _new_conn(self) -> socket.socket:
        found = socket.socket(socket.AF_UNIX)
        self._cut.watch(found)
        try:
            found.connect(self._path)
        except OSError:
            found.close()
            raise
        return found
