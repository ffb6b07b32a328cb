"""The history read back: samples of a time, which series there were, and the window filled after a restart."""

import json
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher
from monitor.storage.history.chunk import DamagedChunkError, Samples, merged, unpacked, unpacked_row
from monitor.storage.history.file import ChunkRow, HeadRow, HistoryFile, SeriesRow
from monitor.storage.history.keep import name_in

# So many times as many samples as there is room for may be read when most of them are left out: 40 million.
_THINNED = 20
_SOME = 20
_NO_SAMPLES: Samples = (array("q"), array("d"))


class TooManySamplesError(Exception):
    """There are more samples than the reader has room for."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A series with its samples, staleness markers among them."""

    labels: Labels
    samples: Samples


class Reader:
    """Reads the file; any thread may. `damaged` hears of what cannot be: a chunk is set aside, a series left out."""

    def __init__(self, file: HistoryFile, damaged: Callable[[], None]) -> None:
        self._file = file
        self._damaged = damaged
        # The series whose labels cannot be read.
        self._unknown: set[int] = set()

    def select(
        self,
        matchers: Sequence[Matcher],
        after: Instant,
        until: Instant,
        most: int = 2**62,
        thin: Callable[[Samples], Samples] | None = None,
    ) -> list[Stored]:
        """
        Return the series that satisfy all matchers and have samples in `(after, until]`, with these.

        With `thin` only what it leaves of each series is held. Raises StateError, and TooManySamplesError before more
        than `most` are held, or many times as many would have to be read.
        """
        series = {row.id: labels for row, labels in self.series(matchers)}
        if self._file.count(series, after, until) > (most if thin is None else most * _THINNED):
            raise TooManySamplesError
        head = self.head(after, until, series)
        stored: list[Stored] = []
        held = 0
        ids = sorted(series)
        # Chunks of some series at a time: those of all may be more than there is memory for.
        for place in range(0, len(ids), _SOME):
            found = self.samples(frozenset(ids[place : place + _SOME]), after, until, head)
            for number, samples in found.items():
                left = samples if thin is None else thin(samples)
                held += len(left[0])
                if held > most:
                    raise TooManySamplesError
                stored.append(Stored(series[number], left))
        return stored

    def samples(
        self,
        series: AbstractSet[int],
        after: Instant,
        until: Instant,
        head: Sequence[Mapping[int, Samples]],
    ) -> dict[int, Samples]:
        """
        Return the samples in `(after, until]` of those series that have any. Raises StateError.

        `head` is what `head` has returned before: what is folded meanwhile is found twice, and not nowhere.
        """
        parts: dict[int, list[Samples]] = defaultdict(list)
        for chunk in self._file.chunks(series, after, until):
            parts[chunk.series].append(self.opened_chunk(chunk))
        for row in head:
            for number in series & row.keys():
                parts[number].append(row[number])
        cut = {number: _cut(merged(some), after, until) for number, some in parts.items()}
        return {number: samples for number, samples in cut.items() if samples[0]}

    def head(self, after: Instant, until: Instant, series: Container[int] | None = None) -> list[dict[int, Samples]]:
        """Return the samples of these series (None: of all) that are in no chunk yet, by rows. Raises StateError."""
        return [self.opened(row, series) for row in self._file.head(after, until)]

    def labels(self, matchers: Sequence[Matcher], after: Instant, until: Instant) -> list[Labels]:
        """Return which series that satisfy all matchers have chunks in `(after, until]`. Raises StateError."""
        series = {row.id: labels for row, labels in self.series(matchers)}
        there: set[int] = set()
        for row in self.head(after, until, series):
            there |= row.keys()
        there |= self._file.has_chunk(series, after, until)
        return [series[number] for number in there]

    def series(self, matchers: Sequence[Matcher]) -> Iterator[tuple[SeriesRow, Labels]]:
        """Yield all series that satisfy all matchers. Raises StateError."""
        for row in self._file.series(name_in(matchers)):
            try:
                labels = Labels((str(name), str(value)) for name, value in json.loads(row.labels))
            except (ValueError, TypeError):
                self._nameless(row)
                continue
            if all(matcher.accepts(labels) for matcher in matchers):
                yield row, labels

    def _nameless(self, row: SeriesRow) -> None:
        # It stays, so that nothing else comes under its id before its chunks are too old.
        if row.id not in self._unknown:
            self._unknown.add(row.id)
            self._damaged()

    def opened(self, row: HeadRow, series: Container[int] | None = None) -> dict[int, Samples]:
        """Return the samples of a row of the head; none if it is damaged, and then it is set aside."""
        try:
            return unpacked_row(row.body, row.start, series)
        except DamagedChunkError:
            self._damaged()
            self._file.set_aside_head(row)
            return {}

    def opened_chunk(self, row: ChunkRow) -> Samples:
        """Return the samples of a chunk; none if it is damaged, and then it is set aside."""
        try:
            return unpacked(row.body)
        except DamagedChunkError:
            self._damaged()
            self._file.set_aside(row)
            return _NO_SAMPLES


def _cut(samples: Samples, after: Instant, until: Instant) -> Samples:
    times, values = samples
    start, end = bisect_right(times, after), bisect_right(times, until)
    return (times, values) if (start, end) == (0, len(times)) else (times[start:end], values[start:end])
