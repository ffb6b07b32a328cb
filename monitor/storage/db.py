"""
What outlives the process: one SQLite file.

Rows only; what they mean is the business of those who write them. Everything that belongs together is committed
together (`commit`), so that a kill at any instant leaves a state that was true.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, Protocol

from monitor.model.instant import Instant
from monitor.storage.migrations import MIGRATIONS
from monitor.storage.rows import (
    AlertRow,
    Changes,
    DeadRow,
    HandledRow,
    IncidentRow,
    LetterRow,
    LogRow,
    ReceivedRow,
)

FILE_NAME = "monitor.db"
# A step changes a row or two, and each time whole pages are written: small ones make 0.8 MB an hour of 3, at one
# evaluation every five seconds. The size of pages holds for a new file, and must be said before WAL is.
_SETTINGS = (
    ("page_size", 1024),
    ("journal_mode", "WAL"),
    ("synchronous", "FULL"),
    # So many pages, and then bytes: the file beside stays at some 300 kB, where SQLite lets it grow to 4 MB.
    ("wal_autocheckpoint", 256),
    ("journal_size_limit", 256 << 10),
)
_FORGOTTEN_AT_ONCE = 20


class StateError(Exception):
    """The state could not be opened, read or written; the message names the file and the reason."""


class DamagedStateError(StateError):
    """The file is not, or no longer, a state file."""


class Fence(Protocol):
    """Between this process and others that may go on with the same file."""

    def check(self) -> None:
        """Raise StateError, at the least, when another one has."""
        ...


class Database:
    """
    The state file. Safe to use from any thread. Raises StateError, and no error of sqlite3.

    A file of a newer version of the program is refused: this one would not know what it must not lose. With a `fence`
    what was written counts only if this process is still the one that may write.
    """

    def __init__(self, folder: Path, fence: Fence | None = None) -> None:
        self.path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._fence = fence
        with translated(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            try:
                self._check()
                for setting, value in _SETTINGS:
                    self._connection.execute(f"PRAGMA {setting}={value}")
                self._migrate()
            except BaseException:
                self._connection.close()
                raise

    def commit(self, steps: Iterable[Changes]) -> None:
        """Write all changes of all `steps`, in their order, or nothing."""
        with self._transaction() as run:
            for changes in steps:
                _write(run, changes)

    def attempt(self, letter: str) -> None:
        """An attempt to deliver the letter begins."""
        with self._transaction() as run:
            run.execute("UPDATE outbox SET attempts = attempts + 1 WHERE id = ?", (letter,))

    def alerts(self) -> list[AlertRow]:
        return [AlertRow(*row) for row in self._read('SELECT "group", rule, labels, body FROM alert')]

    def nflog(self) -> list[LogRow]:
        return [LogRow(*row) for row in self._read("SELECT group_key, integration, at, body FROM nflog")]

    def letters(self) -> list[LetterRow]:
        """Return what waits, the oldest first."""
        rows = self._read("SELECT id, integration, body, attempts, diverted FROM outbox ORDER BY number")
        return [replace(LetterRow(*row), diverted=bool(row[-1])) for row in rows]

    def dead_letters(self) -> list[DeadRow]:
        """Return what was given up, the newest first."""
        query = "SELECT id, integration, body, attempts, error, at FROM dead_letter ORDER BY at DESC, id"
        return [DeadRow(*row) for row in self._read(query)]

    def astray(self) -> list[tuple[str, str]]:
        """Return the integrations and group keys of which others must hear the end."""
        return [(integration, key) for integration, key in self._read("SELECT integration, group_key FROM astray")]

    def evaluated(self) -> Instant | None:
        """Return when the rules were evaluated last."""
        rows = self._read("SELECT at FROM mark WHERE name = 'evaluated'")
        return int(rows[0][0]) if rows else None

    def expire_nflog(self, before: Instant) -> None:
        with transaction(self._connection, self._lock, self.path) as run:
            run.execute("DELETE FROM nflog WHERE at < ?", (before,))
            run.execute("DELETE FROM astray WHERE at < ?", (before,))

    def expire_dead(self, before: Instant) -> None:
        with transaction(self._connection, self._lock, self.path) as run:
            run.execute("DELETE FROM dead_letter WHERE at < ?", (before,))

    def silences(self) -> list[str]:
        """Return the bodies of the silences, expired ones included."""
        return [body for (body,) in self._read("SELECT body FROM silence")]

    def incidents(self) -> list[IncidentRow]:
        return [IncidentRow(*row) for row in self._read("SELECT integration, group_key, body FROM incident")]

    def handled(self, after: Instant, until: Instant) -> list[HandledRow]:
        """Return what fired some time in between, the oldest first."""
        query = (
            "SELECT integration, incident, episode, labels, starts_at, ends_at, told_at, acked_at, acked_by "
            "FROM handled WHERE starts_at <= ? AND (ends_at IS NULL OR ends_at >= ?) ORDER BY starts_at, labels"
        )
        return [HandledRow(*row) for row in self._read(query, (until, after))]

    def received(self) -> list[ReceivedRow]:
        return [ReceivedRow(*row) for row in self._read("SELECT receiver, group_key, body FROM received")]

    def check_fence(self) -> None:
        """Raise StateError, at the least, when another process is to write from now on."""
        if self._fence is not None:
            self._fence.check()

    def close(self) -> None:
        with translated(self.path), self._lock:
            self._connection.close()

    def _read(self, query: str, values: tuple[Instant, ...] = ()) -> list[tuple[Any, ...]]:
        with translated(self.path), self._lock:
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self.check_fence()
        with transaction(self._connection, self._lock, self.path) as run:
            yield run
        # And afterwards: it may have hung for long in the middle, and what follows is that somebody is told.
        self.check_fence()

    def _check(self) -> None:
        # Not the history: it is large, its chunks have checksums, and alerts do not depend on it.
        tables = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'history!_%' ESCAPE '!'"
        ).fetchall()
        for (table,) in tables:
            (verdict,) = self._connection.execute(f'PRAGMA quick_check("{table}")').fetchone()
            if verdict != "ok":
                raise DamagedStateError(f"{self.path}: {verdict}")
        if tables:
            # The list of free pages belongs to no table; when it cannot be read, nothing more is ever written.
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("CREATE TABLE taken (body)")
            self._connection.execute("ROLLBACK")

    def _migrate(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StateError(f"{self.path}: written by a newer vllm-monitor (schema {version}, here {len(MIGRATIONS)})")
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in statements:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version = {number}")
            self._connection.execute("COMMIT")


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Make of what SQLite says of the file a StateError, a DamagedStateError when the file is to blame."""
    try:
        yield
    except (sqlite3.Error, OSError) as err:
        # Its subclasses are for a full disk, a closed file and the like.
        damaged = type(err) is sqlite3.DatabaseError
        raise (DamagedStateError if damaged else StateError)(f"{path}: {err}") from err


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, lock: threading.Lock, path: Path) -> Iterator[sqlite3.Connection]:
    """Do all of it or nothing. Raises StateError."""
    with translated(path), lock:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


def _write(run: sqlite3.Connection, changes: Changes) -> None:
    run.executemany(
        "INSERT OR REPLACE INTO alert VALUES (?, ?, ?, ?)", [(*row.key, row.body) for row in changes.alerts]
    )
    run.executemany('DELETE FROM alert WHERE "group" = ? AND rule = ? AND labels = ?', changes.gone)
    run.executemany(
        "INSERT OR REPLACE INTO nflog VALUES (?, ?, ?, ?)",
        [(row.group_key, row.integration, row.at, row.body) for row in changes.log],
    )
    run.executemany(
        "INSERT OR REPLACE INTO outbox (id, integration, body, attempts, diverted) VALUES (?, ?, ?, ?, ?)",
        [(row.id, row.integration, row.body, row.attempts, row.diverted) for row in changes.letters],
    )
    _write_failures(run, changes)
    run.executemany("DELETE FROM outbox WHERE id = ?", [(letter,) for letter in changes.settled])
    run.executemany("INSERT OR REPLACE INTO silence VALUES (?, ?)", changes.silences)
    run.executemany("DELETE FROM silence WHERE id = ?", [(silence,) for silence in changes.forgotten])
    run.executemany(
        "INSERT OR REPLACE INTO incident VALUES (?, ?, ?)",
        [(row.integration, row.group_key, row.body) for row in changes.incidents],
    )
    run.executemany("DELETE FROM incident WHERE integration = ? AND group_key = ?", changes.closed)
    run.executemany(
        "INSERT OR REPLACE INTO received VALUES (?, ?, ?)",
        [(row.receiver, row.group_key, row.body) for row in changes.received if not row.over],
    )
    run.executemany(
        "DELETE FROM received WHERE receiver = ? AND group_key = ?",
        [(row.receiver, row.group_key) for row in changes.received if row.over],
    )
    _write_handled(run, changes)
    if changes.evaluated:
        run.execute("INSERT OR REPLACE INTO mark VALUES ('evaluated', ?)", (changes.evaluated,))


def _write_handled(run: sqlite3.Connection, changes: Changes) -> None:
    run.executemany(
        "INSERT OR REPLACE INTO handled VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [astuple(row) for row in changes.handled]
    )
    run.executemany(
        "UPDATE handled SET ends_at = ? WHERE integration = ? AND incident = ? AND ends_at IS NULL",
        [(over.at, over.integration, over.incident) for over in changes.over],
    )
    if changes.handled_since:
        # Some at a time: a clock that is a year ahead must not cost everything.
        query = "SELECT integration, incident, episode, labels FROM handled WHERE told_at < ? LIMIT ?"
        run.executemany(
            "DELETE FROM handled WHERE integration = ? AND incident = ? AND episode = ? AND labels = ?",
            run.execute(query, (changes.handled_since, _FORGOTTEN_AT_ONCE)).fetchall(),
        )


def _write_failures(run: sqlite3.Connection, changes: Changes) -> None:
    run.executemany("UPDATE outbox SET diverted = 1 WHERE id = ?", [(row.letter,) for row in changes.astray])
    run.executemany(
        "INSERT OR REPLACE INTO astray VALUES (?, ?, ?)",
        [(row.integration, row.group_key, row.at) for row in changes.astray if not row.over],
    )
    run.executemany(
        "DELETE FROM astray WHERE integration = ? AND group_key = ?",
        [(row.integration, row.group_key) for row in changes.astray if row.over],
    )
    run.executemany(
        "INSERT OR REPLACE INTO dead_letter VALUES (?, ?, ?, ?, ?, ?)",
        [(row.id, row.integration, row.body, row.attempts, row.error, row.at) for row in changes.dead],
    )
    run.executemany("DELETE FROM outbox WHERE id = ?", [(row.id,) for row in changes.dead])
    run.executemany("DELETE FROM dead_letter WHERE id = ?", [(letter,) for letter in changes.raised])
