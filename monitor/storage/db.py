"""What outlives the process: one SQLite file."""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from monitor.model.instant import Instant
from monitor.model.labels import Labels

FILE_NAME = "monitor.db"
# One statement a version; the file's version is how many of them it has seen.
MIGRATIONS = (
    """
    CREATE TABLE nflog (
        group_key TEXT NOT NULL, integration TEXT NOT NULL, at INTEGER NOT NULL,
        firing TEXT NOT NULL, resolved TEXT NOT NULL,
        PRIMARY KEY (group_key, integration)
    ) WITHOUT ROWID
    """,
)

Row = tuple[str, str, Instant, frozenset[Labels], frozenset[Labels]]


class StateError(Exception):
    """The state could not be opened, read or written; the message names the file and the reason."""


class Database:
    """
    The state file. Safe to use from any thread. Raises StateError, and no error of sqlite3.

    A file of a newer version of the program is refused: this one would not know what it must not lose.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        with self._translated():
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._migrate()

    def nflog(self) -> Iterator[Row]:
        """Return the notification log: group key, integration, when, and the label sets told firing and resolved."""
        with self._translated(), self._lock:
            rows = self._connection.execute("SELECT group_key, integration, at, firing, resolved FROM nflog").fetchall()
        for group_key, integration, at, firing, resolved in rows:
            yield group_key, integration, at, _label_sets(firing), _label_sets(resolved)

    def save_nflog(self, row: Row) -> None:
        """Write one entry over the one before it."""
        group_key, integration, at, firing, resolved = row
        with self._translated(), self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO nflog VALUES (?, ?, ?, ?, ?)",
                (group_key, integration, at, _json(firing), _json(resolved)),
            )

    def expire_nflog(self, before: Instant) -> None:
        with self._translated(), self._lock:
            self._connection.execute("DELETE FROM nflog WHERE at < ?", (before,))

    def close(self) -> None:
        with self._translated(), self._lock:
            self._connection.close()

    def _migrate(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StateError(
                f"{self._path}: written by a newer vllm-monitor (schema {version}, here {len(MIGRATIONS)})"
            )
        for number, statement in enumerate(MIGRATIONS[version:], version + 1):
            with self._connection:
                self._connection.execute("BEGIN")
                self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {number}")

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as err:
            raise StateError(f"{self._path}: {err}") from err


def _json(label_sets: Iterable[Labels]) -> str:
    return json.dumps(sorted(label_sets))


def _label_sets(text: str) -> frozenset[Labels]:
    return frozenset(Labels.of((name, value) for name, value in labels) for labels in json.loads(text))
