"""A page in a file, text format or OpenMetrics, as samples to query."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from monitor.model.instant import Instant
from monitor.scrape.errors import PageError
from monitor.scrape.openmetrics import OPENMETRICS
from monitor.scrape.page import PageReader
from monitor.scrape.shape import Page, Series
from monitor.scrape.text import TEXT
from monitor.storage.window import Window

STANDARD_INPUT = Path("-")


class PageFileError(Exception):
    """The file cannot be read, or is no page; the message names file and line."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """What a page says; `newest` is the newest timestamp that stands in it, if any."""

    page: Page

    @property
    def newest(self) -> Instant | None:
        return max((sample.at for sample in self.page.timed), default=None)

    def window(self, at: Instant) -> Window:
        """Return a window with all samples; those without a timestamp are of `at`."""
        window = Window()
        for series, samples in self._samples(at).items():
            block = window.block(series.labels)
            column = (block.column(series.labels, counter=series.counter),)
            for own, value in sorted(samples.items()):
                block.append(own, column, (value,))
        return window

    def _samples(self, at: Instant) -> Mapping[Series, Mapping[Instant, float]]:
        found: dict[Series, dict[Instant, float]] = {}
        for series, value in zip(self.page.series, self.page.values, strict=True):
            found.setdefault(series, {})[at] = value
        for series, value, own in self.page.timed:
            # As when it is scraped: of two samples of one time the first counts.
            found.setdefault(series, {}).setdefault(own, value)
        return found


def read_page(path: Path) -> PageFile:
    """Return the page in a file. Raises PageFileError."""
    try:
        body = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except OSError as err:
        raise PageFileError(f"{path}: {err.strerror}") from err
    form = OPENMETRICS if _last_line(body) == b"# EOF" else TEXT
    try:
        return PageFile(PageReader().read(body, form))
    except PageError as err:
        raise PageFileError(f"{path}: {err}") from err


def _last_line(body: bytes) -> bytes:
    lines: Sequence[bytes] = body.rstrip(b"\n").rsplit(b"\n", 1)
    return lines[-1]
