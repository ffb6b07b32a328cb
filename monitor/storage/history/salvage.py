"""What can still be read of a damaged table, copied."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

# No table has as many rows.
_LAST = 2**40


def salvaged(path: Path, tables: Iterable[str]) -> sqlite3.Connection:
    """Return a database of its own, gone when it is closed, with what can be read of these tables of a file."""
    # A connection that has met damage writes no more, so it is not the one that writes.
    copy = sqlite3.connect("", isolation_level=None)
    with closing(sqlite3.connect(path)) as damaged:
        # A text that is none costs its row alone, later.
        damaged.text_factory = lambda text: text.decode(errors="replace")
        for table in tables:
            place: int | None = 1
            while place is not None:
                place = _copied(damaged, table, copy, place)
                place = place and _after(damaged, table, place)
    return copy


def put_back(copy: sqlite3.Connection, table: str, run: sqlite3.Connection) -> None:
    """Insert what was copied of a table, as far as it agrees with itself."""
    if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
        return
    rows = copy.execute(f"SELECT * FROM {table}")  # noqa: S608 - a name of ours
    marks = ", ".join("?" * len(rows.description))
    run.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)  # noqa: S608 - a name of ours, and marks


def _copied(damaged: sqlite3.Connection, table: str, copy: sqlite3.Connection, place: int) -> int | None:
    """Copy the rows from a number on; returns from which number on nothing is read, None at the end."""
    try:
        rows = damaged.execute(_rows(table), (place,))
        names = ", ".join(f'"{name}"' for name, *_ in rows.description[1:])
        copy.execute(f"CREATE TABLE IF NOT EXISTS {table} ({names})")
        marks = ", ".join("?" * (len(rows.description) - 1))
        for number, *row in rows:
            copy.execute(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608 - a name of ours, and marks
            place = number + 1
    except sqlite3.OperationalError:
        return None  # there is no such table
    except sqlite3.DatabaseError as err:
        return _if_damage(err, place)
    return None


def _after(run: sqlite3.Connection, table: str, place: int) -> int | None:
    """Return from which number on something is read again, behind a place where nothing is; None if nowhere."""
    step = 1
    while not _is_readable(run, table, place + step):
        step *= 2
        if step > _LAST:
            return None
    low, high = place + step // 2, place + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_readable(run, table, middle) else (middle, high)
    return high


def _is_readable(run: sqlite3.Connection, table: str, place: int) -> bool:
    try:
        run.execute(_rows(table), (place,)).fetchone()
    except sqlite3.DatabaseError as err:
        return not _if_damage(err, place)
    return True


def _rows(table: str) -> str:
    # By the rows themselves: an index may be what is damaged.
    return f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"  # noqa: S608 - a name of ours


def _if_damage(err: sqlite3.DatabaseError, place: int) -> int:
    # Its subclasses are for a full disk and the like.
    if type(err) is not sqlite3.DatabaseError:
        raise err
    return place
