"""
Recordings of real servers: lines of JSON, each a scrape.

`{"time": unix seconds, "status": 200 or null, "body": page or null, "health": status of /health, "load": requests}`;
the last two may be missing. The server is scraped again, by the daemon's own scrape loop, at the slots of a job.
"""

import gzip
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from monitor.backtest.source import Period, SourceError, usual_interval
from monitor.model.instant import Duration, Instant, from_seconds, slot_at_or_before
from monitor.model.labels import INSTANCE, JOB, Labels
from monitor.model.target import Target
from monitor.probe.page import PAGE_NAMES, PageFacts
from monitor.probe.pools import pools_of
from monitor.probe.readings import Health, Readings, health_of
from monitor.probe.series import probe_series
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.options import ScrapeOptions, ScrapeProtocol
from monitor.scrape.target import Answer, ScrapeLoop
from monitor.storage.window import Window

_ENDINGS = (".jsonl", ".jsonl.gz")
_JOB = "vllm"
_TEXT = "text/plain; version=1.0.0"


@dataclass(frozen=True, slots=True)
class Scrape:
    """One line; `page` is None when the server did not answer."""

    at: Instant
    page: str | None
    readings: Readings


def recordings(path: Path) -> list[Path]:
    """Return the recordings of a folder, or the one. Raises SourceError."""
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if one.name.endswith(_ENDINGS))
    if not found:
        raise SourceError(f"{path}: no recording in it: no {' or '.join(_ENDINGS)}")
    return found


def period_of(paths: Sequence[Path], interval: Duration | None) -> Period:
    """Return from when to when the recordings are; without an `interval` that of their lines. Raises SourceError."""
    times = [[scrape.at for scrape in scrapes(path)] for path in paths]
    for path, some in zip(paths, times, strict=True):
        if not some:
            raise SourceError(f"{path}: nothing recorded in it")
    first, last = min(some[0] for some in times), max(some[-1] for some in times)
    return Period(first, last, interval or usual_interval(times[0]))


def scrapes(path: Path) -> Iterator[Scrape]:
    """Yield the lines of a recording, which stand in the order of their times. Raises SourceError."""
    number, before = 0, None
    try:
        with _opened(path) as lines:
            for line in lines:
                number += 1
                scrape = _scrape(json.loads(line))
                if before is not None and scrape.at < before:
                    raise SourceError(f"{path}:{number}: is older than the line before it: sort them by time")
                before = scrape.at
                yield scrape
    except OSError as err:
        raise SourceError(f"{path}: {err.strerror or 'cannot be unpacked'}") from err
    except (AttributeError, EOFError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as err:
        raise SourceError(f"{path}:{number}: no line of a recording ({type(err).__name__})") from err


def _opened(path: Path) -> IO[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    return opened(path, "rt", encoding="utf-8")


def _scrape(line: dict[str, Any]) -> Scrape:
    page = line["body"] if line.get("status") == 200 else None  # noqa: PLR2004 - OK
    if not isinstance(page, str | None):
        raise TypeError("a page is text")
    health, load = line.get("health"), line.get("load")
    readings = Readings(
        health=_health(health) if "health" in line else None, server_load=None if load is None else float(load)
    )
    return Scrape(from_seconds(float(line["time"])), page, readings)


def _health(status: Any) -> Health | None:
    return Health.REFUSED if status is None else health_of(int(status))


class RecordingFeed:
    """Scrapes recorded servers again, each at the multiples of `interval` in its own time."""

    def __init__(
        self, window: Window, paths: Sequence[Path], wanted: frozenset[str] | None, interval: Duration
    ) -> None:
        self._servers = [RecordedServer(window, path, wanted, interval) for path in paths]

    def leave_out(self, names: Collection[str]) -> None:
        """No page has what rules record."""

    def feed(self, until: Instant) -> None:
        """Scrape whatever is due up to `until`."""
        for server in self._servers:
            server.scrape(until)


class RecordedServer:
    """One recording: its scrape loop, and how far it has been read."""

    def __init__(self, window: Window, path: Path, wanted: frozenset[str] | None, interval: Duration) -> None:
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        self._target = Target(_JOB, path.name, Labels.of({JOB: _JOB, INSTANCE: name}), Labels())
        options = ScrapeOptions(scrape_interval=interval, fallback_scrape_protocol=ScrapeProtocol.PROMETHEUS_TEXT_1_0_0)
        kept = None if wanted is None else wanted | PAGE_NAMES
        self._loop = ScrapeLoop(self._target, options, window, self._fetch, wanted=kept)
        # What a daemon would have asked the page of the KV cache.
        self._facts = PageFacts(lambda: self._loop.page)
        self._probes = window.block(("probe", self._target.labels))
        self._interval = interval
        self._lines = scrapes(path)
        self._present: Scrape | None = None
        self._next = next(self._lines, None)
        self._slot: Instant = 0

    def scrape(self, until: Instant) -> None:
        """Scrape at the slots up to `until`."""
        if not self._slot and self._next is not None:
            self._slot = slot_at_or_before(self._next.at - 1, self._interval) + self._interval
        while self._slot <= until and self._advance():
            self._loop.scrape(self._slot)
            self._probe()
            self._slot += self._interval

    def _advance(self) -> bool:
        """Go to the newest scrape at or before the slot; say whether the recording still runs."""
        while self._next is not None and self._next.at <= self._slot:
            self._present, self._next = self._next, next(self._lines, None)
        return self._next is not None or (self._present is not None and self._present.at >= self._slot - self._interval)

    def _fetch(self) -> Answer:
        page = self._present.page if self._present is not None else None
        if page is None:
            raise ScrapeError("the server did not answer when it was recorded", reason=Reason.CONNECTION)
        return Answer(page.encode(), _TEXT)

    def _probe(self) -> None:
        pools = pools_of(self._facts.configs())
        known = replace(self._present.readings, pools=pools) if self._present is not None else None
        samples = probe_series(known, self._target) if known is not None else []
        columns = [self._probes.column(labels) for labels, _ in samples]
        self._probes.append(self._slot, columns, [value for _, value in samples])
