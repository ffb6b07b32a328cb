"""A target's page over HTTP."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import urljoin, urlsplit

import requests

from monitor.clock import monotonic_seconds
from monitor.model.instant import to_seconds
from monitor.scrape.errors import Reason, ScrapeError, readable
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.session import THROWN, GuardedSession, chunks
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
_USERINFO = re.compile(r"https?://[^/?#]*@", re.IGNORECASE)


class Fetcher:
    """
    Fetches the page at `url` with one connection that is kept. One thread at a time may call it.

    The whole of it, redirects included, takes no longer than `options.scrape_timeout`. `headers` are those of
    what is no scrape.
    """

    def __init__(
        self,
        url: str,
        options: ScrapeOptions,
        *,
        headers: Mapping[str, str] | None = None,
        seconds: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self._url = url
        self._options = options
        self._has_credentials = options.has_credentials or _USERINFO.match(url) is not None
        timeout = f"{to_seconds(options.scrape_timeout):.10g}"
        of_a_scrape = {"Accept": ACCEPT, "X-Prometheus-Scrape-Timeout-Seconds": timeout}
        self._session = GuardedSession(options, of_a_scrape if headers is None else headers, seconds)

    def __call__(self) -> Answer:
        """Return the page. Raises ScrapeError, and nothing else."""
        self._session.begin(to_seconds(self._options.scrape_timeout))
        try:
            with self._response() as response:
                encoding = response.headers.get("Content-Encoding", "")
                body = unpack(chunks(response), encoding, self._options.body_size_limit)
                return Answer(body, response.headers.get("Content-Type", ""))
        except THROWN as err:
            raise as_scrape_error(err, self._options.scrape_timeout) from err

    def close(self) -> None:
        self._session.close()

    def _response(self) -> requests.Response:
        """Return the answer with status 200, after redirects."""
        url = self._url
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._session.get(url)
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
