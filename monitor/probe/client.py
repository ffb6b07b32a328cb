"""
One connection to a target: for a round of questions that must be over together.

Lean on purpose: a fleet is asked for its health every few seconds.
"""

import ssl
from collections.abc import Callable
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import quote, urljoin, urlsplit

from monitor import __version__
from monitor.clock import monotonic_seconds
from monitor.model.instant import Duration, format_duration, to_seconds
from monitor.probe.errors import ProbeError
from monitor.scrape.credentials import authorization_header
from monitor.scrape.deadline import Deadline, GuardedTlsSocket, connect, tls_context
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.options import ScrapeOptions, TlsConfig

BODY_LIMIT = 1024 * 1024
_MOST_REDIRECTS = 3
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_METRICS = "/metrics"
_PORTS = {"http": 80, "https": 443}
# More than the ways in which jobs differ.
_MOST_CONTEXTS = 16
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._?"


class Reply(NamedTuple):
    """An answer, whatever its status."""

    status: int
    body: bytes = b""
    content_type: str = ""


class Http(Protocol):
    """One connection to a target. Every method raises ProbeError when there is no whole answer in time."""

    def get(self, path: str) -> Reply: ...

    def post(self, path: str, body: bytes) -> Reply: ...

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but this machine is at the other end."""
        ...

    def close(self) -> None: ...


class Client:
    """
    A connection to where `url`, the page of a target, is; made with the first question.

    Everything together takes no longer than `timeout`. An `anonymous` client shows neither key nor certificate.
    """

    def __init__(
        self,
        url: str,
        options: ScrapeOptions,
        timeout: Duration,
        *,
        anonymous: bool = False,
        seconds: Callable[[], float] = monotonic_seconds,
    ) -> None:
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        # What stands before /metrics stands before the other paths too.
        self._prefix = parts.path.removesuffix(_METRICS) if parts.path.endswith(_METRICS) else ""
        self._options = options
        self._timeout = timeout
        self._anonymous = anonymous
        self._deadline = Deadline(seconds)
        self._deadline.start(to_seconds(timeout))
        self._headers: dict[str, str] | None = None
        port = parts.port or _PORTS[parts.scheme]
        self._connection = _Connection(parts.hostname or "", port, self._deadline, self._tls(parts.scheme))

    def get(self, path: str) -> Reply:
        whole = self._prefix + path
        for _ in range(_MOST_REDIRECTS):
            reply, location = self._exchange("GET", whole)
            elsewhere = self._same_place(whole, location) if reply.status in _REDIRECTS else None
            if elsewhere is None:
                break
            whole = elsewhere
        return reply

    def post(self, path: str, body: bytes) -> Reply:
        return self._exchange("POST", self._prefix + path, body)[0]

    @property
    def is_loopback(self) -> bool:
        return self._connection.is_loopback

    def close(self) -> None:
        self._connection.close()

    def _exchange(self, method: str, path: str, body: bytes | None = None) -> tuple[Reply, str]:
        """Return the answer and its Location."""
        try:
            headers = self._all_headers() | ({"Content-Type": "application/json"} if body is not None else {})
            self._deadline.left()
            self._connection.request(method, quote(path, safe=_PATH_CHARACTERS), body, headers)
            with self._connection.getresponse() as response:
                reply = Reply(response.status, _body(response), response.headers.get("Content-Type", ""))
                return reply, response.headers.get("Location", "")
        except ScrapeError as err:
            problem = ProbeError(str(err), reason=err.reason)
            problem.__cause__ = err
        except (HTTPException, OSError, ValueError) as err:
            problem = self._meaning(err)
            problem.__cause__ = err
        except ProbeError as err:
            problem = err
        self._connection.close()
        raise problem

    def _meaning(self, err: Exception) -> ProbeError:
        if isinstance(err, TimeoutError):
            return ProbeError(f"no complete answer within {format_duration(self._timeout)}", reason=Reason.TIMEOUT)
        if isinstance(err, ssl.SSLError):
            return ProbeError(f"TLS: {err.reason or 'handshake failed'}", reason=Reason.TLS)
        return ProbeError(f"connection failed: {type(err).__name__}", reason=Reason.CONNECTION)

    def _all_headers(self) -> dict[str, str]:
        if self._headers is None:
            shown = {} if self._anonymous else authorization_header(self._options)
            self._headers = {"User-Agent": f"vllm-monitor/{__version__}", "Accept": "application/json, */*", **shown}
        return self._headers

    def _same_place(self, path: str, location: str) -> str | None:
        """Return the path that a redirect leads to, None when it leads to another server."""
        to = urlsplit(urljoin(self._origin + path, location))
        if not location or not self._options.follow_redirects or f"{to.scheme}://{to.netloc}" != self._origin:
            return None
        return to.path + (f"?{to.query}" if to.query else "")

    def _tls(self, scheme: str) -> "Callable[[], tuple[ssl.SSLContext, str]] | None":
        config = self._options.tls_config or TlsConfig()
        if scheme != "https":
            return None
        return lambda: (_context(config, self._anonymous, _changed(config)), config.server_name)


class _Connection(HTTPConnection):
    """A connection whose every wait is cut to what is left of the round."""

    def __init__(
        self, host: str, port: int, deadline: Deadline, tls: "Callable[[], tuple[ssl.SSLContext, str]] | None"
    ) -> None:
        super().__init__(host, port)
        if tls is not None:
            self.default_port = _PORTS["https"]
        self._deadline = deadline
        self._tls = tls
        self.is_loopback = False

    def connect(self) -> None:
        plain = connect(self.host, self.port, self._deadline)
        self.is_loopback = is_loopback_address(plain.getpeername()[0])
        if self._tls is None:
            self.sock = plain
            return
        try:
            context, server_name = self._tls()
            plain.settimeout(self._deadline.left())
            secure = context.wrap_socket(plain, server_hostname=server_name or self.host)
        except BaseException:
            plain.close()
            raise
        if isinstance(secure, GuardedTlsSocket):
            secure.deadline = self._deadline
        self.sock = secure


@lru_cache(_MOST_CONTEXTS)
def _context(config: TlsConfig, anonymous: bool, _changed: tuple[int, ...]) -> ssl.SSLContext:  # noqa: FBT001 - part of the key
    """Return a context for `config`: shared, since what a system trusts takes most of a megabyte."""
    verify = not config.insecure_skip_verify
    context = tls_context(verify=verify, system=not config.ca_file)
    if not verify:
        context.check_hostname = False
    if verify and config.ca_file:
        context.load_verify_locations(config.ca_file)
    if config.cert_file and not anonymous:
        context.load_cert_chain(config.cert_file, config.key_file or None)
    return context


def _changed(config: TlsConfig) -> tuple[int, ...]:
    """Return when the files were changed, so that new ones count. Raises ScrapeError when one is not there."""
    try:
        paths = [path for path in (config.ca_file, config.cert_file, config.key_file) if path]
        return tuple(Path(path).stat().st_mtime_ns for path in paths)
    except OSError as err:
        raise ScrapeError(f"TLS: cannot read {err.filename}", reason=Reason.TLS) from err


def _body(response: HTTPResponse) -> bytes:
    body = response.read(BODY_LIMIT + 1)
    if len(body) > BODY_LIMIT:
        raise ProbeError(f"the answer is longer than {BODY_LIMIT} bytes", reason=Reason.BODY_TOO_LARGE, answered=True)
    if response.length:
        raise ProbeError("connection closed before the answer was complete", reason=Reason.CONNECTION)
    return body


def is_loopback_address(address: str) -> bool:
    """Say whether nobody but this machine can be at `address`."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback
