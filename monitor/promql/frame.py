"""
An expression at many times at once, series by series: for who replays months, slot after slot.

A node that can does its work along a whole column of times; the others, and whatever depends on which series there are
at one time or another, is evaluated one time after the other. Both give the same.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, TypeVar

from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.promql.rows import Rows, Windows
from monitor.promql.vector import Series, Vector
from monitor.storage.column import Block

Value = float | None
Made = TypeVar("Made")


class NotColumnar(Exception):  # noqa: N818 - no error: it says that the long way must be taken
    """At some of the times the series need a look at each other: evaluate one time after the other."""


class Frame:
    """
    Instant vectors at many times: `columns[k]` are the values of `series[k]`, None where it is absent.

    No column is None all along, and a column is never changed once it is in a frame.
    """

    __slots__ = ("columns", "series")

    def __init__(self, series: Series, columns: Sequence[Sequence[Value]]) -> None:
        self.series = series
        self.columns = columns

    def at(self, index: int) -> list[tuple[Labels, float]]:
        """Return the vector at one of the times."""
        pairs = zip(self.series, [column[index] for column in self.columns], strict=True)
        return [(labels, value) for labels, value in pairs if value is not None]


EMPTY_FRAME = Frame((), ())


class Steps:
    """
    The times of a frame, ascending, and what of the storage's rows they see.

    `unseen` are the blocks whose row at a time of evaluation is written only after it: rules further down write them.
    One object serves many expressions, as long as nothing is written into blocks that they have read.
    """

    def __init__(self, times: Sequence[Instant], unseen: Collection[Block] = ()) -> None:
        self.times = times
        self.unseen = frozenset(unseen)
        self._rows: dict[tuple[Block, Duration, Duration], Rows] = {}
        self._windows: dict[tuple[Block, Duration, Duration], Windows] = {}
        self._rest: dict[Hashable, Any] = {}

    def rows(self, block: Block, offset: Duration, lookback: Duration) -> Rows:
        """Return for each time the row of `block` that an instant selector reads."""
        key = (block, offset, lookback)
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = Rows(block, self.times, offset, lookback, blind=self._is_blind(block, offset))
        return found

    def windows(self, block: Block, offset: Duration, length: Duration) -> Windows:
        """Return for each time the rows of `block` that a range selector reads."""
        key = (block, offset, length)
        found = self._windows.get(key)
        if found is None:
            blind = self._is_blind(block, offset)
            found = self._windows[key] = Windows(block, self.times, offset, length, blind=blind)
        return found

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made under this key, by `make` at the first call."""
        if key not in self._rest:
            self._rest[key] = make()
        found: Made = self._rest[key]
        return found

    def _is_blind(self, block: Block, offset: Duration) -> bool:
        return offset == 0 and block in self.unseen


def columns_of(vectors: Sequence[Vector]) -> Frame:
    """Return as columns what stands in a vector for each time."""
    columns: dict[Labels, list[Value]] = {}
    length = len(vectors)
    for index, vector in enumerate(vectors):
        for labels, value in zip(vector.series, vector.values, strict=True):
            column = columns.get(labels)
            if column is None:
                column = columns[labels] = [None] * length
            column[index] = value
    return Frame(tuple(columns), list(columns.values()))


def framed(series: Sequence[Labels], columns: Sequence[Sequence[Value]]) -> Frame:
    """Return the frame of the columns that hold anything."""
    there = [k for k, column in enumerate(columns) if any_in(column)]
    if len(there) == len(columns):
        return Frame(series if isinstance(series, tuple) else tuple(series), columns)
    return Frame(tuple([series[k] for k in there]), [columns[k] for k in there])


def any_in(column: Sequence[Value]) -> bool:
    """Say whether there is a value at any of the times."""
    return not column or column[0] is not None or column[-1] is not None or column.count(None) < len(column)


def merged(series: Sequence[Labels], columns: Sequence[Sequence[Value]]) -> Frame:
    """
    Return a frame in which each label set stands once, for columns that are never there at the same time.

    Raises NotColumnar when two are.
    """
    if len(set(series)) == len(series):
        return framed(series, columns)
    found: dict[Labels, Sequence[Value]] = {}
    for labels, column in zip(series, columns, strict=True):
        other = found.get(labels)
        found[labels] = column if other is None else either(other, column)
    return framed(tuple(found), list(found.values()))


def either(one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    """Return the values of the one that is there. Raises NotColumnar where both are."""
    both = zip(one, other, strict=True)
    if any(a is not None and b is not None for a, b in both):
        raise NotColumnar
    return [b if a is None else a for a, b in zip(one, other, strict=True)]
