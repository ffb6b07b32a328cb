"""From the errors of requests, urllib3 and the socket to the one of this part."""

import ssl
from collections.abc import Iterator

import requests
import urllib3

from monitor.model.instant import Duration, format_duration
from monitor.scrape.errors import Reason, ScrapeError

_TIMEOUTS = (TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError)
_BROKEN = (requests.ConnectionError, requests.exceptions.ChunkedEncodingError, urllib3.exceptions.HTTPError)


def as_scrape_error(err: Exception, timeout: Duration) -> ScrapeError:
    """
    Return what `err`, raised during a request, means.

    Nothing of its text is used: it holds the URL with its query, and headers that were refused.
    """
    causes = list(_causes(err))
    if any(isinstance(cause, _TIMEOUTS) for cause in causes):
        return ScrapeError(f"no complete answer within {format_duration(timeout)}", reason=Reason.TIMEOUT)
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            why = getattr(cause, "verify_message", "") or cause.reason or "handshake failed"
            return ScrapeError(f"TLS: {why}", reason=Reason.TLS)
    if isinstance(err, _BROKEN):
        return ScrapeError("connection closed before the answer was complete", reason=Reason.CONNECTION)
    if isinstance(err, requests.RequestException | ValueError):
        return ScrapeError(f"the request cannot be made: {type(err).__name__}", reason=Reason.URL)
    why = err.strerror if isinstance(err, OSError) and err.strerror else type(err).__name__
    return ScrapeError(f"connection failed: {why.lower()}", reason=Reason.CONNECTION)


def _causes(err: BaseException) -> Iterator[BaseException]:
    """Yield the error and what led to it."""
    seen: set[int] = set()
    cause: BaseException | None = err
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
