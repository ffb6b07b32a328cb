"""The history at work: what the window has got is appended, folded into chunks, and forgotten in the end."""

import json
import logging
import threading
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Protocol

from monitor.model.instant import DAY, HOUR, MINUTE, Duration, Instant, slot_at_or_before
from monitor.model.labels import Labels
from monitor.storage.column import Block, Column
from monitor.storage.db import DamagedStateError, StateError
from monitor.storage.history.chunk import Samples, merged, packed, packed_row
from monitor.storage.history.file import ChunkRow, HeadRow, HistoryFile, SeriesRow
from monitor.storage.history.keep import Keep
from monitor.storage.history.reading import Reader
from monitor.storage.history.thinning import RESOLUTION, Thinned
from monitor.storage.owners import plain
from monitor.storage.window import Window

log = logging.getLogger(__name__)

# A minute is appended a minute after its end: by then whoever writes into it has.
SETTLED: Duration = MINUTE
# How far back the samples of this life reach where the clock says that it is earlier than it was in the last one.
_AGAIN: Duration = 10 * MINUTE
# So many series are folded or forgotten at once: a transaction keeps the alerts' waiting.
_BATCH = 500
# So many series are opened at once: some 10 MB of an hour.
_OPENED = 1000
# A label that never repeats must not fill the disk: from here on new series are left out.
MOST_SERIES = 50_000


class Counts(Protocol):
    """Hears of what went wrong."""

    def failed(self) -> None: ...
    def damaged(self) -> None: ...
    def refused(self, series: int) -> None: ...


class History:
    """
    What `keep` names, for as long as it says. One thread saves, any number read.

    Nothing here raises but reading: history is what may be lost when the disk is full, and nothing else.
    """

    def __init__(self, folder: Path, counts: Counts, keep: Keep | None = None, most_series: int = MOST_SERIES) -> None:
        self.keep = keep or Keep()
        # From when on the window has everything that is still written, and when this life began.
        self.since: Instant = -(2**62)
        self.begun: Instant = -(2**62)
        self._file = HistoryFile(folder)
        self._counts = counts
        self._most_series = most_series
        self._lock = threading.Lock()
        self._reader = Reader(self._file, counts.damaged)
        self._ids: dict[Labels, int] = {}
        self._mark: Instant | None = None
        self._last_id, self._last_number = 0, 0
        # Rows of the head from this one on were written in this life.
        self._own_from = 1
        self._folded: Instant = 0
        self._days_folded: Instant = 0
        self._begun: Instant | None = None
        self._expiring = False
        self._silent = False
        # Nothing is written before it is known what is there: ids would come a second time.
        self._recalled = self._salvaged = False
        self._try(self._recall)

    @property
    def reader(self) -> Reader:
        return self._reader

    def close(self) -> None:
        self._file.close()

    def size(self) -> tuple[int, int, int]:
        """Return the bytes of the state file that are in use, and the numbers of series and chunks. Zero if unknown."""
        try:
            return self._file.size()
        except StateError:
            return 0, 0, 0

    def kept_until(self, now: Instant) -> Instant:
        """Return up to when everything is on the disk that there was; `now` where nothing is kept."""
        until = self.written_until
        return now if until is None else until

    @property
    def written_until(self) -> Instant | None:
        """The same; None where nothing is kept, and while it is not known what is."""
        return self._mark if self.keep.retention else None

    def save(self, window: Window, now: Instant) -> None:
        """
        Append what has come to its minute's end, and do one piece of the work that there is to do.

        Where nothing is kept, that is to forget what once was.
        """
        with self._lock:
            self._try(lambda: self._save(window, now))

    def shift(self, by: Duration) -> None:
        """
        The clock was set by so much: what this life has written in the last hour moves along.

        Older samples stay where they are: who knows since when the clock was wrong.
        """
        self.since += by
        self.begun += by
        with self._lock:
            if self._recalled:
                self._try(lambda: self._file.shift_head(self._own_from, by))
            if self._mark is not None:
                self._mark += by
            self._folded = self._days_folded = 0
            self._begun = None

    def _try(self, step: Callable[[], None]) -> None:
        """Do what needs the disk; it is counted when that fails, and told when it begins to fail."""
        try:
            step()
        except DamagedStateError as err:
            self._begin_anew(err)
        except StateError as err:
            self._counts.failed()
            if not self._silent:
                log.error("the history cannot be read or written", extra={"reason": str(err)})
            self._silent = True
        else:
            self._silent = False

    def _save(self, window: Window, now: Instant) -> None:
        # It may be a query that has found it.
        if self._file.torn is not None:
            raise self._file.torn
        if not self._recalled:
            self._recall()
        self._append(window, slot_at_or_before(now - SETTLED, RESOLUTION))
        self._tidy()

    def _recall(self) -> None:
        """Learn up to when there are samples, and which ids are in use. Raises StateError."""
        self._mark = self._file.newest()
        self._last_id, self._last_number = self._file.last_ids()
        if self._salvaged:
            # So may have a row of the head.
            rows = self._reader.head(-(2**62), 2**62)
            self._last_id = max([self._last_id, *(max(row) for row in rows if row)])
        self._own_from = self._last_number + 1
        self._recalled = True

    def _begin_anew(self, err: StateError) -> None:
        """Not only a chunk but the tables are damaged; whatever becomes of them, alerts go on."""
        self._counts.damaged()
        log.error("the history is damaged: what can be read of it is kept", extra={"reason": str(err)})
        try:
            self._file.begin_anew()
        except StateError as another:
            self._counts.failed()
            log.error("history not written", extra={"reason": str(another)})
        self._ids = {}
        self._recalled, self._salvaged = False, True
        self._mark = None

    def _append(self, window: Window, until: Instant) -> None:
        after = self._mark
        if after is None or after > until + SETTLED:
            after = until - _AGAIN if after is not None else -(2**62)
        if until <= after:
            return
        if until - after > HOUR:
            # Of series that were away for long it must be written down anew that they were seen.
            self._ids = {}
        found = _collected(window, self.keep, after, until)
        if found:
            row, series, ids = self._row(window, found, until)
            self._file.append(row, series)
            self._last_number = row.number
            self._last_id = max([self._last_id, *(one.id for one in series)])
            self._ids = ids
        self._mark = until
        if self._begun is None:
            self._begun = until

    def _row(
        self, window: Window, found: Mapping[Labels, tuple[Column, Samples]], until: Instant
    ) -> tuple[HeadRow, list[SeriesRow], dict[Labels, int]]:
        strangers = [column for labels, (column, _) in found.items() if labels not in self._ids]
        new = self._series_rows(window, strangers, until) if strangers else {}
        ids = {
            labels: self._ids.get(labels) or new[labels].id for labels in found if labels in self._ids or labels in new
        }
        samples = {number: found[labels][1] for labels, number in ids.items()}
        start = min([times[0] for times, _ in samples.values()], default=until) - 1
        return HeadRow(self._last_number + 1, start, until, packed_row(samples, start)), list(new.values()), ids

    def _series_rows(self, window: Window, columns: Iterable[Column], until: Instant) -> dict[Labels, SeriesRow]:
        """Return the rows of series that were not there a minute ago, but for those for which there is no room."""
        owners: dict[Block, Hashable] = {block: owner for owner, block in window.blocks()}
        room = self._most_series - self._file.series_count()
        rows: dict[Labels, SeriesRow] = {}
        refused, number = 0, self._last_id
        for column in columns:
            text = _json(column.labels)
            known = self._file.series_of(text)
            if known is None and room <= 0:
                refused += 1
                continue
            if known is None:
                room, number = room - 1, number + 1
            identity = number if known is None else known.id
            owner = _json(plain(owners.get(column.block)))
            rows[column.labels] = SeriesRow(identity, column.labels.name, text, owner, column.counter, until)
        if refused:
            self._counts.refused(refused)
        return rows

    def _tidy(self) -> None:
        assert self._mark is not None  # noqa: S101 - `_append` came before
        hour, day = slot_at_or_before(self._mark, HOUR), slot_at_or_before(self._mark, DAY)
        if hour > self._folded:
            self._fold_hours(hour)
            self._folded = hour
            self._expiring = True
        if day > self._days_folded and self._fold_days(day) < _BATCH:
            self._days_folded = day
        # Not right after a start: a clock that is a year ahead must not cost everything.
        if self._expiring and self._begun is not None and self._mark - self._begun >= HOUR:
            before = self._mark - self.keep.retention
            if self._file.expire(before, _BATCH) < _BATCH:
                self._file.forget_series(before)
                self._ids = {}
                self._expiring = False

    def _fold_hours(self, until: Instant) -> None:
        opened = [
            (row, frozenset(self._reader.opened(row))) for row in self._file.head(-(2**62), until) if row.end <= until
        ]
        rows = [row for row, numbers in opened if numbers]
        series = sorted(set().union(*(numbers for _, numbers in opened)))
        # Some at a time: an hour of all series at once would be several times as much as the window holds of it.
        for place in range(0, len(series), _OPENED):
            self._fold_some(rows, frozenset(series[place : place + _OPENED]))
        # What was written before this is written again, with the same samples, if there is no time for it.
        self._file.fold((), head=[row.number for row, _ in opened])

    def _fold_some(self, rows: Iterable[HeadRow], series: AbstractSet[int]) -> None:
        """Make chunks of hours of what the rows hold of these series."""
        parts: dict[int, list[Samples]] = defaultdict(list)
        for row in rows:
            for number, samples in self._reader.opened(row, series).items():
                parts[number].append(samples)
        whole = {number: merged(some) for number, some in parts.items()}
        hours = {(number, start): some for number, samples in whole.items() for start, some in _by_hour(samples)}
        chunks = list(self._hour_chunks(hours))
        for place in range(0, len(chunks), _BATCH):
            self._file.fold(chunks[place : place + _BATCH])

    def _hour_chunks(self, parts: Mapping[tuple[int, Instant], Samples]) -> Iterable[ChunkRow]:
        known: dict[tuple[int, Instant], ChunkRow] = {}
        for start in {start for _, start in parts}:
            series = [number for number, other in parts if other == start]
            known |= {(row.series, start): row for row in self._file.hours(series, start)}
        for (number, start), some in parts.items():
            before = known.get((number, start))
            samples = some if before is None else merged([self._reader.opened_chunk(before), some])
            yield _chunk(number, HOUR, start, samples)

    def _fold_days(self, until: Instant) -> int:
        """Make chunks of days for some series, and return for how many."""
        found = self._file.with_hours(until, _BATCH)
        chunks: list[ChunkRow] = []
        gone: list[tuple[int, Duration, Instant]] = []
        for number, first in found:
            start = slot_at_or_before(first, DAY)
            rows = self._file.chunks([number], start, start + DAY)
            samples = merged(self._reader.opened_chunk(row) for row in rows)
            gone += [row.key for row in rows if row.span == HOUR]
            if samples[0]:
                chunks.append(_chunk(number, DAY, start, samples))
        if found:
            self._file.fold(chunks, gone)
        return len(found)


def _collected(window: Window, keep: Keep, after: Instant, until: Instant) -> dict[Labels, tuple[Column, Samples]]:
    """Return what is kept of the samples in `(after, until]`, of series that have any."""
    blocks: dict[Block, Thinned] = {}
    found: dict[Labels, tuple[Column, Samples]] = {}
    for matchers in keep.selectors if keep.retention else ():
        for column in window.select(matchers):
            if column.labels in found:
                continue
            thinned = blocks.get(column.block)
            if thinned is None:
                thinned = blocks[column.block] = Thinned(column.block, after, until)
            samples = thinned.samples(column)
            if samples[0]:
                found[column.labels] = (column, samples)
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _by_hour(samples: Samples) -> Iterable[tuple[Instant, Samples]]:
    """Yield the samples of each hour with the hour's start, which is not in it."""
    times, values = samples
    place = 0
    while place < len(times):
        start = slot_at_or_before(times[place] - 1, HOUR)
        end = bisect_right(times, start + HOUR)
        yield start, (times[place:end], values[place:end])
        place = end


def _chunk(series: int, span: Duration, start: Instant, samples: Samples) -> ChunkRow:
    return ChunkRow(series, span, start, len(samples[0]), packed(*samples))
