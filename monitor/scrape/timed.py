"""
Series whose samples come with timestamps of their own.

They share no times with anything, so each has its own rows. As in Prometheus they get no staleness marker; one that has
not been exposed for longer than any query looks back is ended, so that it takes up no room for ever.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from monitor.model.instant import MINUTE, Instant
from monitor.model.labels import Labels
from monitor.scrape.appender import Appender, Owner, Storage
from monitor.scrape.shape import Series, Timed

# reference: Prometheus, scrape/scrape.go maxAheadTime; promql/engine.go defaultLookbackDelta.
_MOST_AHEAD = 10 * MINUTE
_LOOKBACK = 5 * MINUTE


@dataclass(slots=True)
class _Writer:
    owner: Owner
    appender: Appender
    seen: Instant
    newest: Instant | None = None


class TimedSeries:
    """The timed series of one target."""

    def __init__(self, storage: Storage, owner: Owner) -> None:
        self._storage = storage
        self._owner = owner
        self._writers: dict[Labels, _Writer] = {}

    def append(self, at: Instant, samples: Iterable[Timed]) -> int:
        """Write the samples of the scrape at `at`; returns how many were out of order or too far ahead, and dropped."""
        dropped = 0
        for series, value, own in samples:
            writer = self._writers.get(series.labels)
            if writer is None:
                owner = (self._owner, series.labels)
                writer = self._writers[series.labels] = _Writer(owner, self._storage.block(owner), at)
            writer.seen = at
            dropped += own != writer.newest and not _written(writer, series, value, own, until=at + _MOST_AHEAD)
        self._end(at, before=at - _LOOKBACK)
        return dropped

    def take_over(self, old: "TimedSeries") -> None:
        """Go on with what `old` has written: whatever the target does not expose any more ends here."""
        self._writers = old._writers  # noqa: SLF001 - the same class

    def end(self, at: Instant) -> None:
        """The target is gone."""
        self._end(at, before=at + 1)

    def _end(self, at: Instant, *, before: Instant) -> None:
        for labels in [labels for labels, writer in self._writers.items() if writer.seen < before]:
            self._storage.end(self._writers.pop(labels).owner, at)


def _written(writer: _Writer, series: Series, value: float, own: Instant, *, until: Instant) -> bool:
    if own > until:
        return False
    column = writer.appender.column(series.labels, counter=series.counter)
    if not writer.appender.append(own, (column,), (value,)):
        return False
    writer.newest = own
    return True
