"""
The newest minutes of the window as a file, so that rates work right after a restart.

The file is a zlib stream: its first line is a JSON list of blocks, behind it stand the arrays that the list measures,
in its order. Nothing in it is executed.
"""

import json
import sys
import zlib
from array import array
from collections.abc import Callable, Collection, Hashable, Sequence
from pathlib import Path
from typing import Any

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.model.sample import is_stale
from monitor.storage.column import Block, Column
from monitor.storage.db import StateError
from monitor.storage.owners import hashable, plain
from monitor.storage.replacing import replace_file
from monitor.storage.window import Window

FILE_NAME = "window.snapshot"
# What a snapshot of the window holds: more than most rates of the rules, and little enough to write every minute.
REACH: Duration = 10 * MINUTE
_VERSION = 1


def save(window: Window, since: Instant, path: Path) -> None:
    """Write the rows from `since` on, over the last snapshot and at once. Raises StateError."""
    try:
        replace_file(path, _packed(window, since))
    except OSError as err:
        raise StateError(f"{path}: {err}") from err


def load(
    window: Window,
    since: Instant,
    path: Path,
    owners: Collection[Hashable],
    before: Callable[[Hashable, Instant], None] = lambda _, __: None,
) -> Instant | None:
    """
    Put the rows from `since` on into `window`, of those blocks whose owner is at work again.

    `before` is called with each owner and the time of its first row, to write what is older than that. Returns the time
    of the newest row, None when there is none. Raises StateError when the file is no snapshot.
    """
    try:
        packed = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as err:
        raise StateError(f"{path}: {err}") from err
    try:
        return _unpacked(window, since, zlib.decompress(packed), frozenset(owners), before)
    except (zlib.error, ValueError, KeyError, TypeError, IndexError) as err:
        raise StateError(f"{path}: not a snapshot: {type(err).__name__}") from err


def _packed(window: Window, since: Instant) -> bytes:
    blocks: list[dict[str, Any]] = []
    arrays: list[bytes] = []
    for owner, block in window.blocks():
        times, columns = _recent(block, since)
        if times:
            blocks.append({"owner": plain(owner), "rows": len(times), "columns": [head for head, _ in columns]})
            arrays += [times.tobytes(), *(values.tobytes() for _, values in columns)]
    head = json.dumps({"version": _VERSION, "byteorder": sys.byteorder, "blocks": blocks})
    return zlib.compress(b"\n".join((head.encode(), b"".join(arrays))), 1)


def _recent(block: Block, since: Instant) -> "tuple[array[int], list[tuple[list[Any], array[float]]]]":
    """Return the times from `since` on, and of each column its labels, kind, number of rows left out, and values."""
    times, base = block.view
    cut = next((k for k, at in enumerate(times) if at >= since), len(times))
    columns = []
    for column in list(block.columns.values()):
        values, first = column.view
        start = max(base + cut, first)
        # Values of a row that is only just being written are left out with it.
        some = values[start - first : base + len(times) - first]
        if some:
            columns.append(([column.labels, column.counter, start - base - cut, len(some)], some))
    return times[cut:], columns


def _unpacked(
    window: Window,
    since: Instant,
    data: bytes,
    owners: frozenset[Hashable],
    before: Callable[[Hashable, Instant], None],
) -> Instant | None:
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    if head["version"] != _VERSION or head["byteorder"] != sys.byteorder:
        raise ValueError("another version")
    newest: Instant | None = None
    reader = _Reader(rest)
    for entry in head["blocks"]:
        times = reader.integers(entry["rows"])
        columns = [
            (Labels.of(labels), bool(counter), int(skipped), reader.floats(count))
            for labels, counter, skipped, count in entry["columns"]
        ]
        owner = hashable(entry["owner"])
        if owner in owners:
            before(owner, max(since, times[0]))
            _fill(window.block(owner), since, times, columns)
            newest = max(newest or 0, times[-1])
    return newest


class _Reader:
    """Takes arrays off the front of the bytes; raises ValueError when there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    def integers(self, count: int) -> Sequence[int]:
        taken = array("q")
        self._fill(taken, count)
        return taken

    def floats(self, count: int) -> Sequence[float]:
        taken = array("d")
        self._fill(taken, count)
        return taken

    def _fill(self, into: "array[Any]", count: int) -> None:
        size = into.itemsize * count
        into.frombytes(self._data[:size])
        if len(into) != count:
            raise ValueError("too short")
        self._data = self._data[size:]


_Stored = tuple[Labels, bool, int, Sequence[float]]


def _fill(block: Block, since: Instant, times: Sequence[Instant], stored: Sequence[_Stored]) -> None:
    made = [block.column(labels, counter=counter) for labels, counter, _, _ in stored]
    present: list[Column] = []
    for row, at in enumerate(times):
        found = [
            (column, values[row - skipped])
            for column, (_, _, skipped, values) in zip(made, stored, strict=True)
            if 0 <= row - skipped < len(values) and not is_stale(values[row - skipped])
        ]
        columns = [column for column, _ in found]
        # The same list again is the fast case of `append`.
        present = present if columns == present else columns
        if at >= since:
            block.append(at, present, [value for _, value in found])
