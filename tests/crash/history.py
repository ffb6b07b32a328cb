"""
What the state file went through, told by the file itself.

Triggers write every change of the daemon's tables into a table of the harness, in the transaction of the change: the
history holds what was committed, all of it and nothing else, wherever the kills fell.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from monitor.codec import active_of, delivery_of
from monitor.dispatch.dispatcher import Delivery
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.rules.alerting import AlertState
from monitor.storage.db import FILE_NAME, Database

_AT = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
_TRIGGERS = {
    "alert": ("INSERT ON alert", "NEW.labels", "NEW.body"),
    "gone": ("DELETE ON alert", "OLD.labels", "''"),
    "letter": ("INSERT ON outbox", "NEW.integration", "NEW.body"),
    "settled": ("DELETE ON outbox", "OLD.id", "''"),
    "attempt": ("UPDATE ON outbox", "NEW.id", "''"),
    "evaluated": ("INSERT ON mark", "NEW.at", "''"),
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A committed evaluation: its slot, when it was committed, which alerts fire, and how many letters there were."""

    slot: Instant
    at: Instant
    firing: frozenset[Labels]
    letters: int


@dataclass
class History:
    """
    Everything in the order of the commits.

    `attempts` have the letter and when they began; `fired` are all alerts that ever fired, each with when it began to.
    """

    evaluations: list[Evaluation] = field(default_factory=list)
    letters: list[Delivery] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)
    attempts: list[tuple[str, Instant]] = field(default_factory=list)
    fired: set[tuple[Labels, Instant]] = field(default_factory=set)


def prepare(folder: Path) -> None:
    """Make the state file, as the daemon makes it, and let it keep its history."""
    Database(folder).close()
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute("CREATE TABLE history (number INTEGER PRIMARY KEY, at INTEGER, what TEXT, name TEXT, body TEXT)")
    for what, (event, name, body) in _TRIGGERS.items():
        connection.execute(
            f"CREATE TRIGGER history_{what} AFTER {event} BEGIN"  # noqa: S608 - the words are those above
            f" INSERT INTO history (at, what, name, body) VALUES ({_AT}, '{what}', {name}, {body}); END"
        )
    connection.commit()
    connection.close()


def rows(folder: Path) -> list[tuple[int, str, str, str]]:
    connection = sqlite3.connect(folder / FILE_NAME)
    try:
        return connection.execute("SELECT at, what, name, body FROM history ORDER BY number").fetchall()
    finally:
        connection.close()


def read(written: Sequence[tuple[int, str, str, str]]) -> History:
    """Return the history that the rows tell."""
    history = History()
    firing: set[Labels] = set()
    for at, what, name, body in written:
        if what == "letter":
            history.letters.append(delivery_of(name, body))
        elif what == "settled":
            history.settled.add(name)
        elif what == "attempt":
            history.attempts.append((name, at))
        elif what == "evaluated":
            history.evaluations.append(Evaluation(int(name), at, frozenset(firing), len(history.letters)))
        else:
            labels = Labels.of((key, value) for key, value in json.loads(name))
            _move(history, firing, labels, body)
    return history


def _move(history: History, firing: set[Labels], labels: Labels, body: str) -> None:
    alert = active_of(body) if body else None
    if alert is not None and alert.state is AlertState.FIRING and alert.fired_at is not None:
        firing.add(labels)
        history.fired.add((labels, alert.fired_at))
    else:
        firing.discard(labels)
