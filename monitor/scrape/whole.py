"""Reading a page whole: every line of it, once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Protocol

from monitor.model.labels import Labels
from monitor.model.sample import MetricType
from monitor.scrape.errors import LimitError, PageError, Reason
from monitor.scrape.family import Families, is_counter
from monitor.scrape.labels import AS_EXPOSED
from monitor.scrape.line import Description, Exposed, Line, Pairs
from monitor.scrape.number import normal_bound, parse_value
from monitor.scrape.shape import NONE, Known, Page, Series, Shape, Timed


class Format(Protocol):
    """How the lines of a page are read. All methods raise PageError."""

    @property
    def types(self) -> Mapping[str, MetricType]: ...
    def length(self, lines: Sequence[str]) -> int: ...
    def check_end(self, lines: Sequence[str], length: int) -> None: ...
    def describes(self, line: Line) -> tuple[bool, Description | None]: ...
    def sample(self, line: Line) -> Exposed: ...


@dataclass(frozen=True, slots=True)
class Ingest:
    """
    What of a page is stored, and as what.

    `labels_of` makes the labels to store from the name and the labels of a line, None when they are dropped; it raises
    LimitError. `wanted` names the metrics to store, as they are stored; None is all. `taken` are labels no series of
    the page may have. `sample_limit` is for the whole page but for what is dropped, wanted or not; 0 is none.
    """

    labels_of: Callable[[str, Pairs], Labels | None] = AS_EXPOSED
    wanted: Collection[str] | None = None
    taken: Collection[Labels] = ()
    honor_timestamps: bool = True
    sample_limit: int = 0


class WholePage:
    """One reading. `known` is what lines of the page before meant; they are not taken apart again."""

    def __init__(self, form: Format, ingest: Ingest, known: Mapping[str, Known]) -> None:
        self._form = form
        self._ingest = ingest
        self._known = known
        self._families = Families(form.types)
        self._seen = set(ingest.taken)
        self._series: list[Series] = []
        self._values: list[float] = []
        self._timed: list[Timed] = []
        self._scraped = self._added = self._dropped = 0
        self._shape = Shape()

    def read(self, lines: Sequence[str]) -> tuple[Page, Shape]:
        """Return what is wanted of the page, and its shape. Raises PageError."""
        length = self._form.length(lines)
        try:
            for number, text in enumerate(lines[:length], 1):
                if not self._read_known(text):
                    self._read_new(Line(text, number))
            self._form.check_end(lines, length)
            self._check_limit(length)
        except PageError as err:
            err.scraped, err.added = self._scraped, self._added
            raise
        self._shape.lines = lines
        for _ in lines[length:]:
            self._shape.add()
        page = Page(
            self._series, self._values, self._timed, self._families.metadata, self._scraped, self._added, self._dropped
        )
        return page, self._shape

    def _check_limit(self, length: int) -> None:
        limit = self._ingest.sample_limit
        kept = self._scraped - self._dropped
        if 0 < limit < kept:
            message = f"sample_limit of {limit} exceeded by {kept} samples"
            raise PageError(message, line=length, reason=Reason.LIMIT)

    def _read_known(self, text: str) -> bool:
        """Read a line whose series was in the page before; say whether it was one."""
        series, _, number = text.rpartition(" ")
        known = self._known.get(series)
        if known is None or known.family != self._families.current:
            return False
        try:
            value = parse_value(number)
        except ValueError:
            return False
        self._scraped += 1
        self._dropped += known.dropped
        self._keep(known, value, len(series))
        return True

    def _read_new(self, line: Line) -> None:
        no_sample, description = self._form.describes(line)
        if no_sample:
            if description is not None:
                self._families.add(description, line)
            self._shape.add()
            return
        line.at = 0
        exposed = self._form.sample(line)
        self._scraped += 1
        known = self._meaning(exposed, line)
        self._dropped += known.dropped
        if exposed.at is not None and self._ingest.honor_timestamps:
            self._shape.add(known=known)
            if known.series is not None:
                self._timed.append(Timed(known.series, exposed.value, exposed.at))
            return
        self._added += 1
        self._keep(known, exposed.value, line.text.rindex(" ") if exposed.plain else NONE)

    def _keep(self, known: Known, value: float, length: int) -> None:
        """Give the value its slot, unless an earlier line of the page had the same series."""
        slot = NONE
        if known.series is not None and known.series.labels not in self._seen:
            self._seen.add(known.series.labels)
            slot = len(self._values)
            self._series.append(known.series)
            self._values.append(value)
        self._shape.add(length, known, slot)

    def _meaning(self, exposed: Exposed, line: Line) -> Known:
        family, ingest = self._families.current, self._ingest
        # Most names and values stand in many lines, and in the pages of other targets.
        pairs = tuple((intern(name), intern(normal_bound(family[1], name, value))) for name, value in exposed.pairs)
        try:
            labels = ingest.labels_of(intern(exposed.name), pairs)
        except LimitError as err:
            raise PageError(str(err), line=line.number, text=line.text, reason=err.reason) from err
        if labels is None:
            return Known(family, None, dropped=True)
        if ingest.wanted is not None and labels.name not in ingest.wanted:
            return Known(family, None)
        return Known(family, Series(labels, is_counter(exposed.name, family)))
