"""One connection to a server: a form is posted, a JSON document comes back."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from monitor.model.instant import from_seconds
from monitor.remote.errors import Reason, RemoteError
from monitor.remote.options import RemoteOptions
from monitor.scrape import errors as scrape
from monitor.scrape.session import THROWN, GuardedSession, chunks
from monitor.scrape.translate import as_scrape_error
from monitor.scrape.unpack import unpack

_REASONS = {
    scrape.Reason.TIMEOUT: Reason.TIMEOUT,
    scrape.Reason.RESOLVE: Reason.UNREACHABLE,
    scrape.Reason.REFUSED: Reason.UNREACHABLE,
    scrape.Reason.CONNECTION: Reason.UNREACHABLE,
    scrape.Reason.TLS: Reason.UNREACHABLE,
    scrape.Reason.CREDENTIALS: Reason.CREDENTIALS,
    scrape.Reason.BODY_TOO_LARGE: Reason.TOO_LARGE,
}
_WORTH_ANOTHER = (scrape.Reason.REFUSED, scrape.Reason.CONNECTION, scrape.Reason.RESOLVE)


class Reply(NamedTuple):
    """What came back, whatever its status; header names in any case."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Connection:
    """A connection that is kept. One thread at a time may use it."""

    def __init__(self, options: RemoteOptions, seconds: Callable[[], float]) -> None:
        self._options = options
        self._base = options.url.rstrip("/")
        self._session = GuardedSession(options.http, {"Accept": "application/json", **options.headers}, seconds)

    def exchange(self, path: str, form: Mapping[str, str] | None, seconds: float) -> Reply:
        """
        Return the answer to a form that is posted, or without one to GET.

        The whole of it takes no longer than so many seconds. Raises RemoteError.
        """
        url = self._base + path
        try:
            self._session.begin(seconds)
            with self._session.get(url) if form is None else self._session.post(url, form) as response:
                encoding = response.headers.get("Content-Encoding", "")
                body = unpack(chunks(response), encoding, self._options.body_size_limit)
                return Reply(response.status_code, body, response.headers)
        except scrape.ScrapeError as err:
            raise self._meaning(err) from err
        except THROWN as err:
            # Not `from err`: its text may hold the URL.
            raise self._meaning(as_scrape_error(err, from_seconds(seconds))) from None

    def close(self) -> None:
        self._session.close()

    def _meaning(self, err: scrape.ScrapeError) -> RemoteError:
        reason = _REASONS.get(err.reason, Reason.NOT_PROMETHEUS)
        return RemoteError(f"{self._options.name}: {err}", reason=reason, retryable=err.reason in _WORTH_ANOTHER)
