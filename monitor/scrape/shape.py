"""What a page is made of: the values that a reader gives away, and what it remembers of the lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.sample import Metadata
from monitor.scrape.family import Family


class Series(NamedTuple):
    """A series of a page as it is stored; `counter`: its type says that it only rises."""

    labels: Labels
    counter: bool


class Timed(NamedTuple):
    """A sample that came with a timestamp of its own."""

    series: Series
    value: float
    at: Instant


@dataclass(frozen=True, slots=True)
class Page:
    """
    What is wanted of a page.

    `values[k]` is the value of `series[k]`; the very same `series` object comes back while the wanted series stay.
    `scraped` counts all samples of the page, `dropped` those of them that relabelling dropped, `added` those whose
    series text was not in the page before.
    """

    series: Sequence[Series] = ()
    values: Sequence[float] = ()
    timed: Sequence[Timed] = ()
    families: Mapping[str, Metadata] = field(default_factory=dict)
    scraped: int = 0
    added: int = 0
    dropped: int = 0


class Known(NamedTuple):
    """
    What a line meant that stood below the TYPE line of `family`.

    `series` is None when it is not wanted; `dropped`: because relabelling dropped it.
    """

    family: Family
    series: Series | None
    dropped: bool = False


# As a length: the line is not just series, blank and value. As a slot: its value goes nowhere.
NONE = -1


@dataclass(slots=True)
class Shape:
    """
    A page line by line: its text, the length of the series in it, what that means, and where the value goes.

    Series texts are no strings of their own: a hundred targets would hold tens of thousands of them.
    """

    lines: Sequence[str] = ()
    lengths: list[int] = field(default_factory=list)
    known: list[Known | None] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)

    def add(self, length: int = NONE, known: Known | None = None, slot: int = NONE) -> None:
        """Describe the next line."""
        self.lengths.append(length)
        self.known.append(known)
        self.slots.append(slot)

    def by_text(self) -> dict[str, Known]:
        """Return what the series texts of the page mean."""
        return {
            line[:length]: known
            for line, length, known in zip(self.lines, self.lengths, self.known, strict=False)
            if known is not None and length > 0
        }
