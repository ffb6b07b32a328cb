"""
The rows of the history in the state file.

Samples arrive in rows of the head, one a minute with all series in it, so that a minute costs a page or two. An hour
of them becomes a chunk for each series, and a day of these a longer one. Each step is a transaction of its own that
ends with the same samples as it began with, so a kill at any instant loses nothing that was committed.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monitor.model.instant import DAY, HOUR, Duration, Instant
from monitor.storage.db import FILE_NAME, DamagedStateError, StateError, transaction, translated
from monitor.storage.history.salvage import put_back, salvaged
from monitor.storage.migrations import HISTORY

_SETTINGS = (
    # Alerts are synced to the disk at each step, and with them what stands before: history need not be by itself.
    ("synchronous", "NORMAL"),
    ("wal_autocheckpoint", 256),
    ("journal_size_limit", 256 << 10),
    # Of 1 kB each: chunks are read once.
    ("cache_size", 256),
)
TABLES = ("history_series", "history_head", "history_chunk", "history_damaged")
SPANS: tuple[Duration, ...] = (DAY, HOUR)
# Times beyond all others that SQLite can still count with.
_FIRST, _LAST = -(2**62), 2**62
# How many values one statement may name.
_MOST_NAMED = 500


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """A series: `labels` and `owner` are texts; `seen` is a time at which it had samples, a day old or newer."""

    id: int
    name: str
    labels: str
    owner: str
    counter: bool
    seen: Instant


@dataclass(frozen=True, slots=True)
class HeadRow:
    """Samples of many series in `(start, end]`, their times counted from `start`."""

    number: int
    start: Instant
    end: Instant
    body: bytes


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """Samples of one series in `(start, start + span]`."""

    series: int
    span: Duration
    start: Instant
    samples: int
    body: bytes

    @property
    def key(self) -> tuple[int, Duration, Instant]:
        return (self.series, self.span, self.start)


class HistoryFile:
    """The tables of the history, of a state file that `Database` has opened before. Raises StateError alone."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._lock = threading.Lock()
        # What the last read has failed by, where the tables are damaged.
        self.torn: DamagedStateError | None = None
        with translated(self.path):
            self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            # A damaged text must cost its own row, not all that are read with it.
            self._connection.text_factory = lambda text: text.decode(errors="replace")
            for setting, value in _SETTINGS:
                self._connection.execute(f"PRAGMA {setting}={value}")

    def close(self) -> None:
        with translated(self.path), self._lock:
            self._connection.close()

    def begin_anew(self) -> None:
        """Make the tables anew, with what can be read of them: they are damaged themselves."""
        self.torn = None
        with translated(self.path), contextlib.closing(salvaged(self.path, TABLES)) as copy:
            self._begin_with(copy)

    def _begin_with(self, copy: sqlite3.Connection) -> None:
        with contextlib.suppress(StateError):
            self._make([f"DROP TABLE IF EXISTS {table}" for table in TABLES], copy)
            return
        # A tree that cannot be walked cannot be dropped either: its pages are left behind, and nobody knows them.
        ((version,),) = self._read("PRAGMA schema_version")
        with translated(self.path), self._lock:
            self._connection.execute("PRAGMA writable_schema = ON")
        try:
            self._make(
                (
                    "DELETE FROM sqlite_master WHERE tbl_name LIKE 'history!_%' ESCAPE '!'",
                    f"PRAGMA schema_version = {version + 1}",
                ),
                copy,
            )
        finally:
            with translated(self.path), self._lock:
                self._connection.execute("PRAGMA writable_schema = RESET")

    def newest(self) -> Instant | None:
        """Return up to when something was appended."""
        rows = self._read(
            'SELECT MAX("end") FROM (SELECT "end" FROM history_head UNION ALL SELECT start + span FROM history_chunk)'
        )
        return None if rows[0][0] is None else int(rows[0][0])

    def last_ids(self) -> tuple[int, int]:
        """Return the greatest id of a series and the greatest number of a head row that are in use."""
        ((series, number),) = self._read(
            # A chunk may have outlived its series, where the tables were damaged.
            "SELECT MAX((SELECT COALESCE(MAX(id), 0) FROM history_series),"
            " (SELECT COALESCE(MAX(series), 0) FROM history_chunk)),"
            " (SELECT COALESCE(MAX(number), 0) FROM history_head)"
        )
        return int(series), int(number)

    def series_of(self, labels: str) -> SeriesRow | None:
        rows = self._read("SELECT * FROM history_series WHERE labels = ?", (labels,))
        return _series_row(rows[0]) if rows else None

    def series(self, name: str | None) -> list[SeriesRow]:
        """Return the series of a metric name, or all."""
        if name is None:
            return [_series_row(row) for row in self._read("SELECT * FROM history_series")]
        return [_series_row(row) for row in self._read("SELECT * FROM history_series WHERE name = ?", (name,))]

    def series_count(self) -> int:
        return int(self._read("SELECT COUNT(*) FROM history_series")[0][0])

    def append(self, row: HeadRow, series: Iterable[SeriesRow]) -> None:
        """Write a row of the head, and those of its series that are new or have another owner."""
        with transaction(self._connection, self._lock, self.path) as run:
            try:
                run.executemany(
                    "INSERT INTO history_series VALUES (?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (id) DO UPDATE"
                    " SET owner = excluded.owner, counter = excluded.counter, seen = MAX(seen, excluded.seen)",
                    [(one.id, one.name, one.labels, one.owner, one.counter, one.seen) for one in series],
                )
                run.execute("INSERT INTO history_head VALUES (?, ?, ?, ?)", (row.number, row.start, row.end, row.body))
            except sqlite3.IntegrityError as err:
                # An index says that there is what the table does not have.
                raise DamagedStateError(f"{self.path}: {err}") from err

    def head(self, after: Instant, until: Instant) -> list[HeadRow]:
        """Return the rows of the head with samples in `(after, until]`, in the order in which they were written."""
        query = 'SELECT * FROM history_head WHERE "end" > ? AND start < ? ORDER BY number'
        rows = self._read(query, (max(after, _FIRST), min(until, _LAST)))
        return [HeadRow(*row) for row in rows]

    def shift_head(self, first: int, by: Duration) -> None:
        """Move the rows from number `first` on in time."""
        with transaction(self._connection, self._lock, self.path) as run:
            run.execute(
                'UPDATE history_head SET start = start + ?, "end" = "end" + ? WHERE number >= ?', (by, by, first)
            )

    def has_chunk(self, series: Collection[int], after: Instant, until: Instant) -> set[int]:
        """Return those of `series` that have chunks in `(after, until]`."""
        return {key[0] for key in self._in_chunks("series", series, after, until)}

    def count(self, series: Collection[int], after: Instant, until: Instant) -> int:
        """Return how many samples the chunks hold that reach into `(after, until]`."""
        return sum(row[0] for row in self._in_chunks("samples", series, after, until))

    def chunks(self, series: Collection[int], after: Instant, until: Instant) -> list[ChunkRow]:
        """Return the chunks that reach into `(after, until]`, those of days first."""
        rows = [ChunkRow(*row) for row in self._in_chunks("*", series, after, until)]
        return sorted(rows, key=lambda row: (row.series, -row.span, row.start))

    def hours(self, series: Collection[int], start: Instant) -> list[ChunkRow]:
        """Return the chunks of the hour that begins at `start`."""
        rows = (ChunkRow(*row) for row in self._in_chunks("*", series, start, start + 1))
        return [row for row in rows if row.span == HOUR]

    def fold(
        self, chunks: Sequence[ChunkRow], gone: Iterable[tuple[int, Duration, Instant]] = (), head: Iterable[int] = ()
    ) -> None:
        """Write `chunks` over those of their keys, in place of the chunks `gone` and the rows `head`."""
        with transaction(self._connection, self._lock, self.path) as run:
            run.executemany(
                "INSERT OR REPLACE INTO history_chunk VALUES (?, ?, ?, ?, ?)",
                [(*row.key, row.samples, row.body) for row in chunks],
            )
            run.executemany("DELETE FROM history_chunk WHERE series = ? AND span = ? AND start = ?", gone)
            run.executemany("DELETE FROM history_head WHERE number = ?", [(number,) for number in head])
            run.executemany(
                "UPDATE history_series SET seen = MAX(seen, ?) WHERE id = ?",
                [(row.start + row.span, row.series) for row in chunks if row.span == DAY],
            )

    def with_hours(self, before: Instant, most: int) -> list[tuple[int, Instant]]:
        """Return at most so many series, each with the start of a chunk of an hour of it, that begin before a time."""
        rows = self._read(
            "SELECT series, MIN(start) FROM history_chunk WHERE span = ? AND start < ? GROUP BY series LIMIT ?",
            (HOUR, before, most),
        )
        return [(int(series), int(start)) for series, start in rows]

    def set_aside(self, row: ChunkRow) -> None:
        """The chunk is damaged: nobody shall read it again."""
        with transaction(self._connection, self._lock, self.path) as run:
            run.execute("INSERT INTO history_damaged VALUES (?, ?, ?, ?)", (*row.key, row.body))
            run.execute("DELETE FROM history_chunk WHERE series = ? AND span = ? AND start = ?", row.key)

    def set_aside_head(self, row: HeadRow) -> None:
        """The row is damaged: as `set_aside`, of no series and no span."""
        with transaction(self._connection, self._lock, self.path) as run:
            run.execute("INSERT INTO history_damaged VALUES (0, 0, ?, ?)", (row.start, row.body))
            run.execute("DELETE FROM history_head WHERE number = ?", (row.number,))

    def expire(self, before: Instant, most: int) -> int:
        """Delete at most so many chunks that end at `before` or earlier; return how many."""
        with transaction(self._connection, self._lock, self.path) as run:
            gone = run.execute(
                "DELETE FROM history_chunk WHERE rowid IN"
                " (SELECT rowid FROM history_chunk WHERE start + span <= ? LIMIT ?)",
                (before, most),
            ).rowcount
            run.execute("DELETE FROM history_damaged WHERE start + span <= ?", (before,))
        return gone

    def forget_series(self, before: Instant) -> None:
        """Delete the series that were not seen since, and have no samples."""
        with transaction(self._connection, self._lock, self.path) as run:
            run.execute(
                "DELETE FROM history_series WHERE seen < ? AND id NOT IN (SELECT series FROM history_chunk)",
                (before,),
            )

    def size(self) -> tuple[int, int, int]:
        """Return the bytes of the file that are in use, and the numbers of series and chunks."""
        ((pages, free, size),) = self._read(
            "SELECT page_count, freelist_count, page_size"
            " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        )
        ((series, chunks),) = self._read(
            "SELECT (SELECT COUNT(*) FROM history_series), (SELECT COUNT(*) FROM history_chunk)"
        )
        return (pages - free) * size, int(series), int(chunks)

    def _make(self, after: Iterable[str], copy: sqlite3.Connection) -> None:
        """Make the tables, after these statements, and put into them what was saved."""
        with transaction(self._connection, self._lock, self.path) as run:
            for statement in (*after, *HISTORY):
                run.execute(statement)
            for table in TABLES:
                put_back(copy, table, run)

    def _in_chunks(self, what: str, series: Collection[int], after: Instant, until: Instant) -> list[tuple[Any, ...]]:
        ids = sorted(series)
        found: list[tuple[Any, ...]] = []
        # Those of hours before those of days: what is folded meanwhile is found twice, and not nowhere.
        for span in reversed(SPANS):
            for some in (ids[place : place + _MOST_NAMED] for place in range(0, len(ids), _MOST_NAMED)):
                marks = ", ".join("?" * len(some))
                found += self._read(
                    f"SELECT {what} FROM history_chunk"  # noqa: S608 - columns that are written above, and marks
                    f" WHERE series IN ({marks}) AND span = ? AND start > ? AND start < ? ORDER BY series, start",
                    (*some, span, max(after, _FIRST) - span, min(until, _LAST)),
                )
        return found

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            with translated(self.path), self._lock:
                return self._connection.execute(query, values).fetchall()
        except DamagedStateError as err:
            self.torn = err
            raise


def _series_row(row: tuple[Any, ...]) -> SeriesRow:
    number, name, labels, owner, counter, seen = row
    return SeriesRow(number, name, labels, owner, bool(counter), seen)
