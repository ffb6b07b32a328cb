"""A state folder with a history, a window that is written by one or two writers, and time that is moved by hand."""

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.storage.db import FILE_NAME, Database
from monitor.storage.history.history import History
from monitor.storage.history.keep import Keep
from monitor.storage.window import Window

NAME = "kept"
ALL = (equal(METRIC_NAME, NAME),)
# A minute of the last hour of a day: an hour's end and a day's end are near.
START: Instant = 1_767_571_200_000 - 90 * MINUTE


@dataclass
class Counted:
    """What the history complained of."""

    failures: int = 0
    damages: int = 0
    left_out: int = 0

    def failed(self) -> None:
        self.failures += 1

    def damaged(self) -> None:
        self.damages += 1

    def refused(self, series: int) -> None:
        self.left_out += series


@dataclass
class Keeper:
    """A daemon as far as the history sees it: `restart` is a kill, after which the window is empty."""

    folder: Path
    keep: Keep = field(default_factory=lambda: Keep((ALL,)))
    counted: Counted = field(default_factory=Counted)
    most_series: int = 50_000

    def __post_init__(self) -> None:
        file = self.folder / FILE_NAME
        if not file.exists():
            file.write_bytes(empty())
        self.history = History(self.folder, self.counted, self.keep, self.most_series)
        self.window = Window()

    def restart(self) -> None:
        self.history.close()
        self.history = History(self.folder, self.counted, self.keep, self.most_series)
        self.window = Window()

    def write(self, at: Instant, values: dict[str, float], owner: str = "rule") -> None:
        """Write one row: the values of the series that are there."""
        block = self.window.block(owner)
        block.append(at, [block.column(series(name)) for name in values], list(values.values()))

    def save(self, at: Instant) -> None:
        """Save what was written until `at`, and tidy as far as there is anything to do."""
        self.history.save(self.window, at + MINUTE)

    def read(self, after: Instant = -(2**62), until: Instant = 2**62) -> dict[str, list[tuple[Instant, bytes]]]:
        """Return the samples by series; values as their bits, so that every NaN is equal to itself alone."""
        found = self.history.reader.select(ALL, after, until)
        return {stored.labels.value("k"): bits(*stored.samples) for stored in found}


@cache
def empty() -> bytes:
    """Return a state file in which nothing stands; making one takes a hundred syncs."""
    with TemporaryDirectory() as folder:
        Database(Path(folder)).close()
        return (Path(folder) / FILE_NAME).read_bytes()


def series(name: str) -> Labels:
    return Labels.of({METRIC_NAME: NAME, "k": name})


def bits(times: Sequence[Instant], values: "array[float] | Sequence[float]") -> list[tuple[Instant, bytes]]:
    return [(at, struct.pack("<d", value)) for at, value in zip(times, values, strict=True)]


def minutes(count: int, start: Instant = START, step: Duration = MINUTE) -> range:
    return range(start, start + count * step, step)
