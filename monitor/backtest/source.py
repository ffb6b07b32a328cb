"""Where a history comes from, as far as a backtest needs to know."""

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels

SHORTEST: Duration = 5 * SECOND
COUNTER_ENDINGS = ("_total", "_sum", "_count", "_bucket")
UP = "up"


class SourceError(Exception):
    """The history cannot be read; the message is for whoever asked for it."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Some samples of one series, by rising time; STALE is a staleness marker."""

    labels: Labels
    times: "array[int]"
    values: "array[float]"


@dataclass(frozen=True, slots=True)
class Period:
    """From when to when there is a history, both included, and how far apart its scrapes are."""

    start: Instant
    end: Instant
    interval: Duration


def usual_interval(times: Sequence[Instant]) -> Duration:
    """
    Return how far apart most of the times are, in whole seconds.

    Nobody evaluates more often than the daemon does by itself, nor needs to more seldom than once a minute.
    """
    distances = sorted(after - before for before, after in pairwise(times))
    middle = distances[len(distances) // 2] if distances else SHORTEST
    return min(max(round(middle / SECOND) * SECOND, SHORTEST), MINUTE)


class Source(Protocol):
    """A history as series: a file, or a server."""

    def read(self, after: Instant, until: Instant) -> Iterable[Samples]:
        """Return what there is in `(after, until]`, each series once. Raises SourceError."""
        ...


class Feed(Protocol):
    """A history on its way into the window."""

    def leave_out(self, names: Collection[str]) -> None:
        """Never write series of these names: rules write them."""
        ...

    def feed(self, until: Instant) -> None:
        """Write everything up to `until` that is not written yet. Raises SourceError."""
        ...
