"""
A server that speaks the Prometheus HTTP API: Prometheus, Thanos, Mimir, VictoriaMetrics, or the daemon itself.

`x[1h]` at a time is all samples of that hour with their own times, which `query_range` would not give.
reference: Prometheus 3, docs/querying/api.md.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from monitor.backtest.source import UP, Period, Samples, SourceError, usual_interval
from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels, quoted
from monitor.remote.client import Client
from monitor.remote.errors import Reason, RemoteError
from monitor.remote.options import RemoteOptions
from monitor.scrape.options import MEBIBYTE, Authorization, BasicAuth, ScrapeOptions

_TIMEOUT: Duration = 120 * SECOND
_LARGEST = 256 * MEBIBYTE
# An answer of so many samples is some tens of megabytes.
_MOST_SAMPLES = 250_000
_FIRST: Duration = HOUR
_SHORTEST: Duration = MINUTE
# What a shorter range may help against; the word is what servers call a query that would load too many samples.
_TOO_MUCH = (Reason.TIMEOUT, Reason.STATUS, Reason.TOO_LARGE)
_TOO_MANY_SAMPLES = "execution"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is shown to the server, each in a file that is read once; None is nothing."""

    bearer_token_file: Path | None = None
    # `user:password`
    basic_auth_file: Path | None = None

    def options(self) -> ScrapeOptions:
        """Return who asks. Raises SourceError."""
        authorization, basic_auth = None, None
        if self.bearer_token_file is not None:
            authorization = Authorization(credentials=_text(self.bearer_token_file))
        if self.basic_auth_file is not None:
            user, colon, password = _text(self.basic_auth_file).partition(":")
            if not colon:
                raise SourceError(f"{self.basic_auth_file}: write user:password")
            basic_auth = BasicAuth(user, password)
        return ScrapeOptions(authorization=authorization, basic_auth=basic_auth)


@dataclass
class Server:
    """Answers queries. Raises SourceError."""

    url: str
    credentials: Credentials = field(default_factory=Credentials)

    def __post_init__(self) -> None:
        options = RemoteOptions(self.url, _TIMEOUT, self.credentials.options(), connections=1, body_size_limit=_LARGEST)
        self.name = options.name
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SourceError(f"{self.name} is no URL: write http://127.0.0.1:9090")
        self._client = Client(options)

    def samples(self, selector: str, after: Instant, until: Instant) -> list[dict[str, Any]] | None:
        """Return what the selector finds in `(after, until]`, or None when that is too much for the server."""
        length = until - after
        try:
            data = self._client.query(f"{selector}[{length}ms]", until).data
        except RemoteError as err:
            is_too_much = err.reason in _TOO_MUCH or err.kind == _TOO_MANY_SAMPLES
            if is_too_much and length > _SHORTEST:
                return None
            hint = ": give --bearer-token-file or --basic-auth-file" if err.reason is Reason.CREDENTIALS else ""
            raise SourceError(f"{err}{hint}") from err
        found = data.get("result") if isinstance(data, dict) and data.get("resultType") == "matrix" else None
        if not isinstance(found, list):
            raise SourceError(f"{self.name} answers a range with no matrix")
        return found


class History:
    """The series of these metrics (None: all) in a server, asked for in pages of a bounded size."""

    def __init__(self, server: Server, names: Collection[str] | None) -> None:
        self._server = server
        self._selector = '{__name__=~".+"}' if names is None else _selector(names)
        self._length = _FIRST

    def read(self, after: Instant, until: Instant) -> Iterable[Samples]:
        """Return the samples in `(after, until]`. Raises SourceError."""
        found: dict[Labels, Samples] = {}
        while after < until:
            end = min(until, after + self._length)
            answer = self._server.samples(self._selector, after, end)
            if answer is None:
                self._length = max((end - after) // 2, _SHORTEST)
                continue
            count = 0
            for one in _samples(answer, after, self._server.name):
                known = found.setdefault(one.labels, one)
                if known is not one:
                    known.times.extend(one.times)
                    known.values.extend(one.values)
                count += len(one.times)
            self._length = max((end - after) * _MOST_SAMPLES // max(count, 1), _SHORTEST)
            after = end
        return found.values()


def period(server: Server, start: Instant, end: Instant, interval: Duration | None) -> Period:
    """Return the period; without an `interval` that of the scrapes at its end. Raises SourceError."""
    if interval is None:
        answer = server.samples(UP, end - 10 * MINUTE, end) or []
        longest = max((one.times for one in _samples(answer, 0, server.name)), key=len, default=array("q"))
        interval = usual_interval(longest) if len(longest) > 1 else 15 * SECOND
    return Period(start, end, interval)


def _samples(answer: list[dict[str, Any]], after: Instant, name: str) -> Iterator[Samples]:
    """Yield what the server `name` has answered. Raises SourceError."""
    try:
        yield from _series(answer, after)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as err:
        raise SourceError(f"{name} answers a matrix with what is no series in it ({type(err).__name__})") from err


def _series(answer: list[dict[str, Any]], after: Instant) -> Iterator[Samples]:
    stamps: list[float] = []
    times = array("q")
    for one in answer:
        points = one.get("values", ())
        before, stamps = stamps, [point[0] for point in points]
        # Series of one target have the same times.
        if stamps != before:
            times = array("q", [round(stamp * 1000) for stamp in stamps])
        values = array("d", [float(point[1]) for point in points])
        # Before 3.0 a range held its first instant too.
        first = 1 if times and times[0] <= after else 0
        if len(times) > first:
            yield Samples(Labels.of(one["metric"]), times[first:], values[first:])


def _selector(names: Collection[str]) -> str:
    return "{__name__=~" + quoted("|".join(sorted(names))) + "}"


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as err:
        raise SourceError(f"{path}: {err.strerror}") from err
