"""
`python -m tests.crash.keeping FOLDER SEED LIVES`: kills whoever writes the history, and looks what is left of it.

A life is a process of its own that writes minute after minute as fast as it can, so that hours are folded into days all
the time; it says after each minute what has been committed, and is ended at a statement of SQLite or at an instant.
After each life everything that was ever committed must stand in the file, bit for bit, and nothing else.
"""

import os
import signal
import sqlite3
import struct
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from monitor.model.instant import HOUR, MINUTE, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.storage.db import Database
from monitor.storage.history.history import History
from monitor.storage.history.keep import Keep
from monitor.storage.window import Window

START: Instant = 1_767_571_200_000 - HOUR
NAMES = ("a", "b", "c")
KEPT = (equal(METRIC_NAME, "kept"),)
_MOST_MINUTES, _MOST_SECONDS = 500, 0.4
# What a statement begins with at which a life is ended, with the most times that it is likely to come.
PLACES = {
    "": 2_500,
    "COMMIT": 400,
    "INSERT OR REPLACE INTO history_chunk": 20,
    "DELETE FROM history_head": 300,
    "DELETE FROM history_chunk": 70,
    "UPDATE history_series": 3,
}


class Nobody:
    """Hears of what must not happen here."""

    def failed(self) -> None:
        raise AssertionError("not written")

    def damaged(self) -> None:
        raise AssertionError("damaged")

    def refused(self, series: int) -> None:
        raise AssertionError(series)


def value(name: str, at: Instant) -> float:
    return Random(f"{name}/{at}").random()  # noqa: S311 - whoever asks again gets the same


def live(folder: Path, place: str, dies_at: int, report: int) -> NoReturn:
    """Write until the statement of this number of those that begin so, or for so many minutes."""
    passed = 0

    def pass_(statement: str) -> None:
        nonlocal passed
        passed += statement.startswith(place)
        if passed == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    connect = sqlite3.connect

    def traced(*args: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **named)
        connection.set_trace_callback(pass_)
        return connection

    setattr(sqlite3, "connect", traced)  # noqa: B010 - mypy will not have a function of a module assigned to
    code = 1
    try:
        history, window = History(folder, Nobody(), Keep((KEPT,))), Window()
        block = window.block("rule")
        columns = [block.column(Labels.of({METRIC_NAME: "kept", "k": name})) for name in NAMES]
        begin = newest(folder) + MINUTE
        for at in range(begin, begin + _MOST_MINUTES * MINUTE, MINUTE):
            block.append(at, columns, [value(name, at) for name in NAMES])
            history.save(window, at + MINUTE)
            os.write(report, struct.pack("<q", at))
        code = 0
    finally:
        os._exit(code)


def newest(folder: Path) -> Instant:
    """Return the newest minute in the file."""
    connection = sqlite3.connect(folder / "monitor.db")
    query = 'SELECT MAX("end") FROM (SELECT "end" FROM history_head UNION ALL SELECT start + span FROM history_chunk)'
    ((found,),) = connection.execute(query).fetchall()
    connection.close()
    return START if found is None else int(found)


def complaints(folder: Path, committed: Instant) -> list[str]:
    """Return what is wrong with the file, when everything until `committed` was said to be in it."""
    Database(folder).close()
    history = History(folder, Nobody(), Keep((KEPT,)))
    found = {one.labels.value("k"): one.samples for one in history.reader.select(KEPT, -(2**62), 2**62)}
    history.close()
    wrong = []
    last = max([committed, *(times[-1] for times, _ in found.values())])
    expected = list(range(START + MINUTE, last + 1, MINUTE))
    for name in NAMES if expected else ():
        times, values = found.get(name, ([], []))
        if list(times) != expected:
            wrong.append(f"{name}: {len(times)} samples, {len(expected)} were committed")
        elif list(values) != [value(name, at) for at in expected]:
            wrong.append(f"{name}: another value")
    return wrong


def kill(folder: Path, dice: Random, committed: Instant) -> tuple[Instant, str]:
    """Let one life happen; return up to when it said that everything is committed, and how it ended."""
    reader, report = os.pipe()
    at_statement = dice.random() < 0.7
    place = dice.choice(list(PLACES))
    process = os.fork()
    if process == 0:
        os.close(reader)
        live(folder, place, dice.randint(1, PLACES[place]) if at_statement else 0, report)
    os.close(report)
    if not at_statement:
        time.sleep(dice.uniform(0.01, _MOST_SECONDS))
        os.kill(process, signal.SIGKILL)
    said = bytearray()
    while some := os.read(reader, 1 << 16):
        said += some
    os.close(reader)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"a life ended by itself with {code}")
    whole = said[len(said) - len(said) % 8 - 8 : len(said) - len(said) % 8]
    ended = "by itself" if code == 0 else f"at {place.lower() or 'a statement'}" if at_statement else "at an instant"
    return (struct.unpack("<q", whole)[0] if whole else committed), ended


def main() -> int:
    folder, seed, lives = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    Database(folder).close()
    dice, committed, ends = Random(seed), START, Counter[str]()  # noqa: S311 - a seeded run
    for number in range(lives):
        committed, ended = kill(folder, dice, committed)
        ends[ended] += 1
        for words in complaints(folder, committed):
            sys.stdout.write(f"life {number}, ended {ended}: {words}\n")
            return 1
    connection = sqlite3.connect(folder / "monitor.db")
    spans = dict(connection.execute("SELECT span, COUNT(*) FROM history_chunk GROUP BY span").fetchall())
    connection.close()
    sys.stdout.write(f"{dict(ends)}, {(committed - START) // HOUR} hours, chunks {spans}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
