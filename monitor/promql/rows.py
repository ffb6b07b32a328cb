"""Which rows of a block the times of a frame see, and the values of a column there."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from monitor.model.instant import Duration, Instant
from monitor.model.sample import is_stale
from monitor.storage.column import Block, Column

Value = float | None
_NONE = -1
_SOME = 3


class Rows:
    """
    For each time the newest row in the lookback, -1 where there is none.

    `blind`: the row of the very time of evaluation is not there yet.
    """

    __slots__ = ("_consecutive", "_first", "_last", "_rows")

    def __init__(
        self, block: Block, times: Sequence[Instant], offset: Duration, lookback: Duration, *, blind: bool
    ) -> None:
        own, base = block.view
        same = None if blind or offset else _rows_of(own, base, times)
        rows = _newest(own, base, [time - offset for time in times], lookback, blind=blind) if same is None else same
        self._rows: Sequence[int] = rows
        real = [one for one in rows if one != _NONE] if _NONE in rows else rows
        self._first, self._last = (real[0], real[-1]) if real else (_NONE, _NONE)
        self._consecutive = same is not None or rows == list(range(self._first, self._first + len(rows)))

    def values(self, column: Column) -> list[Value]:
        """Return the value of the column at each time, None where there is none or a staleness marker."""
        gaps = column.gaps
        values, first = column.view
        end = first + len(values)
        if self._consecutive and first <= self._first and self._last < end:
            found: list[Value] = list(values[self._first - first : self._last + 1 - first])
        else:
            found = [values[row - first] if first <= row < end else None for row in self._rows]
        if gaps and bisect_left(gaps, self._first) < bisect_right(gaps, self._last):
            return [None if value is not None and is_stale(value) else value for value in found]
        return found


def _rows_of(own: Sequence[Instant], base: int, times: Sequence[Instant]) -> range | None:
    """Return the rows that have the times themselves, as those of a rule of the same interval do."""
    first = bisect_left(own, times[0]) if times else len(own)
    if not times or own[first : first + len(times)] != array("q", times):
        return None
    return range(first + base, first + base + len(times))


def _newest(
    own: Sequence[Instant], base: int, untils: Sequence[Instant], lookback: Duration, *, blind: bool
) -> list[int]:
    rows: list[int] = []
    row = bisect_left(own, untils[0]) if untils else 0
    count = len(own)
    for until in untils:
        # `row` is the first that is not seen: those after it are later still.
        while row < count and (own[row] < until if blind else own[row] <= until):
            row += 1
        rows.append(row - 1 + base if row and own[row - 1] > until - lookback else _NONE)
    return rows


class Windows:
    """For each time `t` the rows in `(t - length, t]`, the offset taken off both."""

    def __init__(
        self, block: Block, times: Sequence[Instant], offset: Duration, length: Duration, *, blind: bool
    ) -> None:
        own, base = block.view
        spans = None if blind else _regular(own, times, offset, length)
        if spans is None:
            spans = _spans(own, [time - offset for time in times], length, blind=blind)
        first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
        # Counted from the first row that any window sees.
        self.spans = [(start - first, end - first) for start, end in spans] if first else spans
        self.own = own[first:last]
        self.first, self.last = first + base, last + base

    def whole(self, column: Column) -> list[float] | None:
        """Return the values of the column in all rows of the windows, or None when it lacks any."""
        gaps = column.gaps
        values, first = column.view
        if first > self.first or self.last - first > len(values):
            return None
        if gaps and bisect_left(gaps, self.first) < bisect_left(gaps, self.last):
            return None
        return list(values[self.first - first : self.last - first])

    def points(self, column: Column) -> tuple[list[int], list[float], list[tuple[int, int]]]:
        """
        Return the times and values of a column that lacks some rows, without markers, and the windows among them.

        A window is a pair of places in them, the second behind its last.
        """
        values, first = column.view
        times: list[int] = []
        real: list[float] = []
        # How many there are before each row.
        before = [0]
        for row, time in enumerate(self.own, self.first):
            there = first <= row < first + len(values) and not is_stale(values[row - first])
            if there:
                times.append(time)
                real.append(values[row - first])
            before.append(len(real))
        return times, real, [(before[start], before[end]) for start, end in self.spans]


def _regular(
    own: "array[int]", times: Sequence[Instant], offset: Duration, length: Duration
) -> list[tuple[int, int]] | None:
    """Return the windows among rows that are all as far apart as the first two, None where they are not."""
    if not times:
        return None
    first = bisect_right(own, times[0] - offset - length)
    last = bisect_right(own, times[-1] - offset)
    if last - first < _SOME:
        return None
    step, zero = own[first + 1] - own[first], own[first]
    if own[first:last] != array("q", range(zero, zero + step * (last - first), step)):
        return None
    # Counted from one row earlier, for a window is open at its start and closed at its end.
    before, until = zero + offset + length - step, zero + offset - step
    spans = [(first + (time - before) // step, first + (time - until) // step) for time in times]
    # Where the rows begin or end among the windows they have to be counted.
    return spans if spans[0][0] >= first and spans[-1][1] <= last else None


def _spans(
    own: Sequence[Instant], untils: Sequence[Instant], length: Duration, *, blind: bool
) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    count = len(own)
    start = end = bisect_right(own, untils[0] - length) if untils else 0
    for until in untils:
        after = until - length
        while start < count and own[start] <= after:
            start += 1
        end = max(end, start)
        while end < count and (own[end] < until if blind else own[end] <= until):
            end += 1
        spans.append((start, end))
    return spans
