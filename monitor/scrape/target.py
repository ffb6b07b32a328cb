"""
The scrapes of one target: fetch, read, append; and how it fares.

Nothing here knows when the next scrape is due.
"""

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

from monitor.clock import monotonic_seconds
from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.sample import Metadata
from monitor.model.target import Target
from monitor.scrape.appender import Storage
from monitor.scrape.bounds import check_bounds
from monitor.scrape.content import format_of
from monitor.scrape.errors import PageError, Reason, ScrapeError
from monitor.scrape.labels import LabelMaker
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.page import PageReader
from monitor.scrape.shape import Page, Series
from monitor.scrape.text import TEXT
from monitor.scrape.timed import TimedSeries
from monitor.scrape.whole import Ingest
from monitor.storage.column import Column

log = logging.getLogger(__name__)

# What every scrape writes of itself, in the order of the values of a row.
REPORT = (
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "scrape_samples_post_metric_relabeling",
    "scrape_series_added",
)


class Answer(NamedTuple):
    """What a target sent, unpacked."""

    body: bytes
    content_type: str


class Fetch(Protocol):
    """Gets a target's page."""

    def __call__(self) -> Answer:
        """Return the page. Raises ScrapeError."""
        ...


@runtime_checkable
class KeepsConnection(Protocol):
    """A `Fetch` that has something to let go of in the end."""

    def close(self) -> None: ...


class Health(StrEnum):
    UNKNOWN = "unknown"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ScrapeResult:
    """
    How one scrape went; `duration` in seconds, `error` and `reason` are empty when it is `up`.

    `scraped` counts the samples of the page, `discarded` those that relabelling dropped, `added` those whose series was
    not in the last good page, `dropped` those that were wanted and yet not stored, because of their time: not after the
    newest, or far ahead.
    """

    at: Instant
    duration: float
    up: bool
    error: str = ""
    reason: Reason | None = None
    scraped: int = 0
    added: int = 0
    dropped: int = 0
    discarded: int = 0


@dataclass(frozen=True, slots=True)
class TargetHealth:
    """How a target fares, for /api/v1/targets; `last_scrape_duration` in seconds."""

    health: Health = Health.UNKNOWN
    last_error: str = ""
    last_scrape: Instant | None = None
    last_scrape_duration: float = 0.0


@dataclass(frozen=True, slots=True)
class _Row:
    """The columns of a good scrape, made of the page's `series`."""

    series: Sequence[Series] = ()
    columns: Sequence[Column] = field(default_factory=list)


class ScrapeLoop:
    """
    Scrapes one target. One thread at a time may scrape; anybody may read `health`, `metadata` and `page`.

    `page` is what was wanted of the last page, an empty one when the last scrape failed.

    `wanted` names the metrics to store, as the page names them; None is all. `seconds` is a clock that never steps.
    """

    def __init__(
        self,
        target: Target,
        options: ScrapeOptions,
        storage: Storage,
        fetch: Fetch,
        *,
        wanted: Collection[str] | None = None,
        seconds: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self.target = target
        self.options = options
        self.wanted = wanted
        self.health = TargetHealth()
        self.metadata: Mapping[str, Metadata] = {}
        self.page = Page()
        self._storage = storage
        self._fetch = fetch
        self._is_closed = False
        self._is_stopped = False
        # Held while samples are written: a target may be removed while its last scrape is under way.
        self._writing = threading.Lock()
        self._seconds = seconds
        self.owner = (target.job, target.url, target.labels)
        self._block = storage.block(self.owner)
        self._timed = TimedSeries(storage, self.owner)
        reports = [target.labels.with_({METRIC_NAME: name}) for name in REPORT]
        self._report: list[Column] = [self._block.column(labels) for labels in reports]
        self._row = _Row(columns=self._report)
        self._reader = PageReader(_ingest(target, options, wanted, reports))

    def scrape(self, at: Instant) -> ScrapeResult:
        """
        Scrape once, at `at`, and write what came of it.

        Never raises: a failed scrape writes `up` 0 and marks all series of the last one stale; nothing of a bad page is
        kept. Nothing is written when `at` is not after the last scrape.
        """
        page, result = self._attempt(at)
        with self._writing:
            if self._is_closed:
                self.close()
            if self._is_stopped:
                return result
            result = replace(result, dropped=self._write(at, page, result))
        health, error = (Health.UP, _not_stored(result.dropped)) if result.up else (Health.DOWN, result.error)
        self.health = TargetHealth(health, error, at, result.duration)
        return result

    def whole_page(self) -> Page:
        """Return all of the last good page, wanted or not. It is read anew: for a look now and then."""
        return self._reader.whole()

    @property
    def is_stopped(self) -> bool:
        """Whether the target is gone for good."""
        return self._is_stopped

    def take_over(self, old: "ScrapeLoop") -> None:
        """Go on with the series of `old`, which scraped the same target in another way and does so no more."""
        with old._writing:  # noqa: SLF001 - the same class
            self._timed.take_over(old._timed)  # noqa: SLF001
        old.close()

    def stop(self, at: Instant) -> None:
        """The target is gone: all its series are stale from `at` on, and a scrape under way counts for nothing."""
        with self._writing:
            self._is_stopped = True
            self._storage.end(self.owner, at)
            self._timed.end(at)
        self.close()

    def close(self) -> None:
        """Let go of the connection, or at the end of the scrape that is under way."""
        self._is_closed = True
        if isinstance(self._fetch, KeepsConnection):
            self._fetch.close()

    def _attempt(self, at: Instant) -> tuple[Page, ScrapeResult]:
        start = self._seconds()
        scraped = added = 0
        try:
            page = self._read(self._fetch())
        except ScrapeError as err:
            reason, error = err.reason, str(err)
            if isinstance(err, PageError):
                scraped, added = err.scraped, err.added
        except Exception as err:
            # The tick of a target: a defect of ours is that target's health too, and the log has it.
            log.exception("scrape failed", extra={"job": self.target.job})
            reason, error = Reason.INTERNAL, f"internal error: {type(err).__name__}"
        else:
            duration = self._seconds() - start
            return page, ScrapeResult(at, duration, True, "", None, page.scraped, page.added, discarded=page.dropped)
        duration = self._seconds() - start
        return Page(), ScrapeResult(at, duration, False, error, reason, scraped, added)

    def _read(self, answer: Answer) -> Page:
        if self.wanted is not self._reader.wanted:
            self._reader.want(self.wanted)
        if not answer.body:
            # As in Prometheus: a page without anything is a good page, whatever its Content-Type.
            return self._reader.read(b"", TEXT)
        check_bounds(answer.body, self.options.body_size_limit)
        return self._reader.read(answer.body, format_of(answer.content_type, self.options.fallback_scrape_protocol))

    def _write(self, at: Instant, page: Page, result: ScrapeResult) -> int:
        """Write a row, and return how many samples of the page were dropped because of their time."""
        self.page = page
        counts = result.scraped, result.scraped - result.discarded, result.added
        report = (float(result.up), result.duration, *map(float, counts))
        if not result.up:
            self._block.append(at, self._report, report)
            return 0
        if page.series is not self._row.series:
            columns = [self._block.column(series.labels, counter=series.counter) for series in page.series]
            self._row = _Row(page.series, columns + self._report)
        written = self._block.append(at, self._row.columns, [*page.values, *report])
        self.metadata = page.families
        return self._timed.append(at, page.timed) + (0 if written else len(page.values))


def _not_stored(samples: int) -> str:
    if not samples:
        return ""
    return f"{samples} samples not stored: their time is not after the newest, or far ahead (is a clock wrong?)"


def _ingest(
    target: Target, options: ScrapeOptions, wanted: Collection[str] | None, reports: Collection[Labels]
) -> Ingest:
    return Ingest(
        labels_of=LabelMaker(target.labels, options.honor_labels, options.label_limits, options.metric_relabel_configs),
        wanted=wanted,
        taken=reports,
        honor_timestamps=options.honor_timestamps,
        sample_limit=options.sample_limit,
    )
