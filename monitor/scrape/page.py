"""
The page of one target, read again and again.

The first time, every line is read. Afterwards a page is compared with the one before, line by line: as long as its
shape stays, only the values of the lines that changed are read. Where the shape changes (a series more or less), a line
whose series was there before still costs no more than a look-up. Either way the page is checked as a whole.
"""

from collections.abc import Collection
from dataclasses import replace
from itertools import compress
from operator import ne

from monitor.scrape.number import are_decimals, parse_value
from monitor.scrape.shape import Page, Shape
from monitor.scrape.whole import Format, Ingest, WholePage


class PageReader:
    """Reads the pages of one target, one after the other."""

    def __init__(self, ingest: Ingest | None = None) -> None:
        self._ingest = ingest or Ingest()
        self._format: Format | None = None
        self._shape = Shape()
        self._page = Page()

    @property
    def wanted(self) -> Collection[str] | None:
        return self._ingest.wanted

    def want(self, wanted: Collection[str] | None) -> None:
        """Read other metrics from the next page on."""
        if wanted != self._ingest.wanted:
            self._format = None
        self._ingest = replace(self._ingest, wanted=wanted)

    def read(self, body: bytes, form: Format) -> Page:
        """
        Return what is wanted of the page.

        Raises PageError; then the next page is compared with the last good one.
        """
        # Bytes that are no UTF-8 become what no UTF-8 can say, and are found wherever UTF-8 must be.
        lines = body.decode("utf-8", "surrogateescape").split("\n")
        page = self._changes(lines) if form is self._format else None
        self._page = page or self._whole(lines, form)
        return self._page

    def whole(self) -> Page:
        """
        Return all of the last good page, wanted or not; an empty one before there is any.

        Any thread may ask while another one reads the next page.
        """
        form, lines = self._format, self._shape.lines
        if form is None:
            return Page()
        return WholePage(form, replace(self._ingest, wanted=None), {}).read(lines)[0]

    def _changes(self, lines: list[str]) -> Page | None:
        """Return the page if it differs from the last one in nothing but values, else None."""
        shape, page = self._shape, self._page
        before, lengths, slots = shape.lines, shape.lengths, shape.slots
        if len(lines) != len(before):
            return None
        values, texts, numbers = list(page.values), [], []
        for k in compress(range(len(lines)), map(ne, lines, before)):
            series, _, text = lines[k].rpartition(" ")
            if len(series) != lengths[k] or not before[k].startswith(series):
                return None
            try:
                number = float(text)
            except ValueError:
                return None
            texts.append(text)
            numbers.append(number)
            if slots[k] >= 0:
                values[slots[k]] = number
        # Python's float is more lenient than Prometheus; the whole reading finds and names the culprit.
        if not are_decimals(texts, numbers) and not _are_values(texts):
            return None
        shape.lines = lines
        return Page(page.series, values, page.timed, page.families, page.scraped, 0, page.dropped)

    def _whole(self, lines: list[str], form: Format) -> Page:
        known = self._shape.by_text() if form is self._format else {}
        page, shape = WholePage(form, self._ingest, known).read(lines)
        if known and page.series == self._page.series:
            # They are the very same. Where nothing was known they are equal at most, and the shape has the new ones.
            page = replace(page, series=self._page.series)
        self._shape, self._format = shape, form
        return page


def _are_values(texts: list[str]) -> bool:
    try:
        for text in texts:
            parse_value(text)
    except ValueError:
        return False
    return True
