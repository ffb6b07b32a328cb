"""Requests under our rules: one deadline for all of an exchange, and nothing that the environment put there."""

from collections.abc import Callable, Iterator, Mapping
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH, get_environ_proxies

from monitor import __version__
from monitor.scrape.credentials import authorization_header
from monitor.scrape.deadline import Deadline, connection_classes, tls_context
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.options import ScrapeOptions, TlsConfig

_CHUNK = 64 * 1024
_HTTP, _HTTPS = "http://", "https://"
# What `requests`, urllib3 and the sockets throw: see `as_scrape_error`.
THROWN = (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError)


class GuardedSession:
    """
    One connection that is kept, shown what `options` say of who asks. One thread at a time may use it.

    Everything from one `begin` to the next takes no longer than was said there.
    """

    def __init__(self, options: ScrapeOptions, headers: Mapping[str, str], seconds: Callable[[], float]) -> None:
        self._options = options
        self._deadline = Deadline(seconds)
        self._tls = options.tls_config or TlsConfig()
        if self._tls.insecure_skip_verify:
            # The user asked for it; a warning at every scrape helps nobody.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._session = requests.Session()
        # Neither proxies nor .netrc nor certificates because of a variable that somebody set for something else.
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self._session.headers.update(
            {"Accept-Encoding": "gzip", "User-Agent": f"vllm-monitor/{__version__}", **headers}
        )
        self._session.adapters.clear()
        self._session.mount(_HTTP, _Adapter(self._deadline, self._tls, secure=False))

    def begin(self, seconds: float) -> None:
        """An exchange begins that may take so long. Raises ScrapeError."""
        self._deadline.start(seconds)
        self._check_files()

    def get(self, url: str) -> requests.Response:
        return self._ask(requests.Request("GET", url))

    def post(self, url: str, form: Mapping[str, str]) -> requests.Response:
        return self._ask(requests.Request("POST", url, data=form))

    def close(self) -> None:
        self._session.close()

    def _ask(self, request: requests.Request) -> requests.Response:
        """Return an answer whose body is still to come; redirects are the caller's. Raises ScrapeError or THROWN."""
        request.headers = authorization_header(self._options)
        prepared = self._session.prepare_request(request)
        connections = self._deadline.connections
        try:
            return self._send(prepared)
        except requests.ConnectionError as err:
            # A server may close a kept connection at the very moment it is used again; that is no failed scrape.
            if self._deadline.connections > connections or isinstance(err, requests.Timeout):
                raise
            return self._send(prepared)

    def _send(self, request: requests.PreparedRequest) -> requests.Response:
        left = self._deadline.left()
        tls = self._tls
        if _HTTPS not in self._session.adapters and (request.url or "").startswith(_HTTPS):
            # Not before: what the system trusts takes most of a megabyte, and most targets speak no TLS.
            self._session.mount(_HTTPS, _Adapter(self._deadline, tls, secure=True))
        return self._session.send(
            request,
            stream=True,
            timeout=(left, left),
            allow_redirects=False,
            verify=not tls.insecure_skip_verify and (tls.ca_file or DEFAULT_CA_BUNDLE_PATH),
            cert=(tls.cert_file, tls.key_file) if tls.cert_file else None,
            proxies=get_environ_proxies(request.url or "") if self._options.proxy_from_environment else {},
        )

    def _check_files(self) -> None:
        """Raise ScrapeError when a file of the TLS settings is not there; `requests` is vague about it."""
        for path in (self._tls.ca_file, self._tls.cert_file, self._tls.key_file):
            if path and not Path(path).is_file():
                raise ScrapeError(f"TLS: cannot read {path}", reason=Reason.TLS)


class _Adapter(HTTPAdapter):
    """Makes guarded connections."""

    def __init__(self, deadline: Deadline, tls: TlsConfig, *, secure: bool) -> None:
        self._pool_options: dict[str, Any] = {}
        if secure:
            self._pool_options["ssl_context"] = tls_context(verify=not tls.insecure_skip_verify, system=not tls.ca_file)
        if secure and tls.server_name:
            self._pool_options["server_hostname"] = tls.server_name
        self._plain, self._secure = connection_classes(deadline)
        super().__init__(pool_connections=1, pool_maxsize=1)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:  # noqa: FBT001, FBT002 - as the base class has it
        super().init_poolmanager(connections, maxsize, block, **options, **self._pool_options)

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = self._secure if pool.scheme == "https" else self._plain
        return pool


def chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield the body as it was sent, still packed."""
    yield from response.raw.stream(_CHUNK, decode_content=False)
