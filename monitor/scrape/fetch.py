"""A target's page over HTTP."""

import re
from collections.abc import Callable, Iterator
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH, get_environ_proxies

from monitor import __version__
from monitor.clock import monotonic_seconds
from monitor.model.instant import to_seconds
from monitor.scrape.credentials import authorization_header
from monitor.scrape.deadline import Deadline, connection_classes, tls_context
from monitor.scrape.errors import Reason, ScrapeError, readable
from monitor.scrape.options import ScrapeOptions, TlsConfig
from monitor.scrape.target import Answer
from monitor.scrape.translate import as_scrape_error
from monitor.scrape.unpack import unpack

# reference: Prometheus 3, config.DefaultScrapeProtocols; but for protobuf, which it does not ask for by default either.
ACCEPT = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
# As Go's client, hence Prometheus.
_MOST_REDIRECTS = 10
_CHUNK = 64 * 1024
_HTTP, _HTTPS = "http://", "https://"
_USERINFO = re.compile(r"https?://[^/?#]*@", re.IGNORECASE)


class Fetcher:
    """
    Fetches the page at `url` with one connection that is kept. One thread at a time may call it.

    The whole of it, redirects included, takes no longer than `options.scrape_timeout`.
    """

    def __init__(self, url: str, options: ScrapeOptions, *, seconds: Callable[[], float] = monotonic_seconds) -> None:
        self._url = url
        self._options = options
        self._deadline = Deadline(seconds)
        self._has_credentials = options.has_credentials or _USERINFO.match(url) is not None
        self._tls = options.tls_config or TlsConfig()
        if self._tls.insecure_skip_verify:
            # The user asked for it; a warning at every scrape helps nobody.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._session = requests.Session()
        # Neither proxies nor .netrc nor certificates because of a variable that somebody set for something else.
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self._session.headers.update(
            {
                "Accept": ACCEPT,
                "Accept-Encoding": "gzip",
                "User-Agent": f"vllm-monitor/{__version__}",
                "X-Prometheus-Scrape-Timeout-Seconds": f"{to_seconds(options.scrape_timeout):.10g}",
            }
        )
        self._session.adapters.clear()
        self._session.mount(_HTTP, _Adapter(self._deadline, self._tls, secure=False))

    def __call__(self) -> Answer:
        """Return the page. Raises ScrapeError, and nothing else."""
        self._deadline.start(to_seconds(self._options.scrape_timeout))
        self._check_files()
        try:
            with self._response() as response:
                encoding = response.headers.get("Content-Encoding", "")
                body = unpack(_chunks(response), encoding, self._options.body_size_limit)
                return Answer(body, response.headers.get("Content-Type", ""))
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as err:
            raise as_scrape_error(err, self._options.scrape_timeout) from err

    def close(self) -> None:
        self._session.close()

    def _response(self) -> requests.Response:
        """Return the answer with status 200, after redirects."""
        url = self._url
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._get(url)
            location = response.headers.get("Location")
            if response.status_code not in _REDIRECTS or not location or not self._options.follow_redirects:
                break
            response.close()
            url = self._redirected(url, location)
        else:
            raise ScrapeError(f"more than {_MOST_REDIRECTS} redirects", reason=Reason.REDIRECT)
        if response.status_code != requests.codes.ok:
            response.close()
            status = f"{response.status_code} {readable((response.reason or '')[:100])[1:-1]}".rstrip()
            raise ScrapeError(f"server returned HTTP status {status}", reason=Reason.STATUS)
        return response

    def _get(self, url: str) -> requests.Response:
        request = self._session.prepare_request(
            requests.Request("GET", url, headers=authorization_header(self._options))
        )
        connections = self._deadline.connections
        try:
            return self._send(request)
        except requests.ConnectionError as err:
            # A server may close a kept connection at the very moment it is used again; that is no failed scrape.
            if self._deadline.connections > connections or isinstance(err, requests.Timeout):
                raise
            return self._send(request)

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

    def _redirected(self, url: str, location: str) -> str:
        """Return where a redirect leads. Raises ScrapeError when credentials must not go there."""
        to = urljoin(url, location)
        old, new = urlsplit(url), urlsplit(to)
        if new.scheme not in ("http", "https"):
            raise ScrapeError("redirect to something that is not HTTP", reason=Reason.REDIRECT)
        moved = old.hostname != new.hostname or (old.scheme == new.scheme and old.port != new.port)
        if self._has_credentials and (moved or (old.scheme, new.scheme) == ("https", "http")):
            where_to = f"{new.scheme}://{new.hostname}"
            raise ScrapeError(
                f"redirect to {where_to} refused: credentials are only for the target", reason=Reason.REDIRECT
            )
        return to

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


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield the body as it was sent, still packed."""
    yield from response.raw.stream(_CHUNK, decode_content=False)
