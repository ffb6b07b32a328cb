"""
Samples as columns: no sample is a Python object.

All series that one writer (a target's scrape, a rule group) produces are written together, so they share one array of
times, the rows of a `Block`; a series is a `Column` of values against those rows. Both are read without a lock while
they are written: arrays only grow at the end, a row's time is published after its values, and pruning replaces arrays
instead of shifting them. A reader takes `view` once and works on what it got.
"""

import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import isnan
from operator import lt

from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.model.sample import STALE, is_stale


class Column:
    """
    The values of one series.

    `view` is `(values, first)`: `values[k]` belongs to row `first + k` of the block. A row in which the series was
    missing holds the staleness marker and is listed in `gaps`; after the end of a series that has vanished there is one
    marker and then nothing. For counters, `resets` lists each row whose value is below the newest one before it, so
    that an increase needs the two ends of a range, and the values that the counter fell from.

    A reader takes `gaps` and `resets` before `view`: pruning replaces them in the other order, so what a list lacks
    the values lack too.
    """

    __slots__ = ("block", "counter", "gaps", "labels", "last", "live", "resets", "view")

    def __init__(self, block: "Block", labels: Labels, *, counter: bool) -> None:
        self.block = block
        self.labels = labels
        self.counter = counter
        self.view: tuple[array[float], int] = (array("d"), block.next_row)
        self.gaps: list[int] = []
        self.resets: list[int] = []
        self.last = 0.0
        self.live = False

    def newest(self, after: Instant, until: Instant) -> tuple[Instant, float] | None:
        """Return the newest sample in `(after, until]`, or None if there is none or it is a staleness marker."""
        times, base = self.block.view
        values, first = self.view
        row = min(bisect_right(times, until) + base, first + len(values)) - 1
        if row < max(first, base) or times[row - base] <= after:
            return None
        value = values[row - first]
        return None if is_stale(value) else (times[row - base], value)

    def rows(self, after: Instant, until: Instant) -> tuple[int, int]:
        """Return the rows `[start, end)` of this column whose times lie in `(after, until]`, markers included."""
        times, base = self.block.view
        values, first = self.view
        start = max(bisect_right(times, after) + base, first)
        return start, max(start, min(bisect_right(times, until) + base, first + len(values)))

    def between(self, after: Instant, until: Instant) -> tuple[Sequence[Instant], Sequence[float]]:
        """Return the times and values of the samples in `(after, until]`, without staleness markers."""
        gaps = self.gaps
        times, base = self.block.view
        values, first = self.view
        start = max(bisect_right(times, after) + base, first)
        end = max(start, min(bisect_right(times, until) + base, first + len(values)))
        some_times, some_values = times[start - base : end - base], values[start - first : end - first]
        if gaps and bisect_left(gaps, start) < bisect_left(gaps, end):
            kept = [k for k, value in enumerate(some_values) if not is_stale(value)]
            return array("q", [some_times[k] for k in kept]), array("d", [some_values[k] for k in kept])
        return some_times, some_values

    def end(self, row: int, last: float) -> None:
        """The series is missing from `row` on."""
        self.last, self.live = last, False
        self.gaps.append(row)
        self.view[0].append(STALE)

    def resume(self, row: int, value: float) -> None:
        """The series is there again (or for the first time) in `row`, with `value` to come."""
        values, first = self.view
        if not values:
            self.view = (values, row)
        else:
            missing = row - first - len(values)
            self.gaps.extend(range(row - missing, row))
            values.extend([STALE] * missing)
            if self.counter and value < self.last:
                self.resets.append(row)
        self.live = True

    def extend(self, row: int, some: "array[float]", last: float) -> float:
        """
        Write the rows from `row` on, STALE where the series is missing, and return its last value.

        `last` is its value before, if it is live.
        """
        # A sum is the quickest way to see that there is no NaN, and so no marker.
        if isnan(sum(some)):
            return self._extend_with_gaps(row, some, last)
        if not self.live:
            self.resume(row, some[0])
            last = some[0]
        if self.counter and (some[0] < last or any(map(lt, islice(some, 1, None), some))):
            falls = map(lt, some, (last, *some))
            self.resets.extend(row + offset for offset, fell in enumerate(falls) if fell)
        self.view[0].extend(some)
        return some[-1]

    def _extend_with_gaps(self, row: int, some: "array[float]", last: float) -> float:
        for at, value in enumerate(some, row):
            if is_stale(value):
                if self.live:
                    self.end(at, last)
                continue
            if not self.live:
                self.resume(at, value)
            elif self.counter and value < last:
                self.resets.append(at)
            self.view[0].append(value)
            last = value
        return last

    def prune(self, row: int) -> None:
        """Forget what is before `row`."""
        values, first = self.view
        if row > first:
            self.view = (values[row - first :], row)
        self.gaps = self.gaps[bisect_left(self.gaps, row) :]
        self.resets = self.resets[bisect_left(self.resets, row) :]

    @property
    def is_over(self) -> bool:
        """Whether the series has ended and no sample of it is left."""
        return not self.live and len(self.gaps) >= len(self.view[0])


class Block:
    """
    The rows that one writer produces. One thread writes, another may prune, any number read.

    `view` is `(times, base)`: `times[k]` is the time of row `base + k`. `adopt` is told of each new column.
    """

    __slots__ = ("_adopt", "_lasts", "_present", "_writing", "columns", "next_row", "view")

    def __init__(self, adopt: Callable[[Column], None] = lambda _: None) -> None:
        self._adopt = adopt
        self._writing = threading.Lock()
        self.view: tuple[array[int], int] = (array("q"), 0)
        self.next_row = 0
        self.columns: dict[Labels, Column] = {}
        self._present: Sequence[Column] = ()
        self._lasts: Sequence[float] = ()

    @property
    def newest_time(self) -> Instant | None:
        times = self.view[0]
        return times[-1] if times else None

    def column(self, labels: Labels, *, counter: bool = False) -> Column:
        """Return the column of `labels`, made at the first call; `counter`: its values only rise, but for resets."""
        found = self.columns.get(labels)
        if found is None:
            found = Column(self, labels, counter=counter)
            self._add(found)
        return found

    def append(self, at: Instant, present: Sequence[Column], values: Sequence[float]) -> bool:
        """
        Write one row: `values` of the columns `present`; every other column that was there gets a staleness marker.

        Handing over the very same `present` object as last time is the fast case. Returns False, and writes nothing,
        when `at` is not after the newest row: time never runs backwards in storage.
        """
        with self._writing:
            newest = self.newest_time
            if newest is not None and at <= newest:
                return False
            self._append(at, present, values)
        return True

    def extend(self, times: Sequence[Instant], present: Mapping[Column, "array[float]"]) -> None:
        """
        Write many rows at once, as so many calls of `append` would; a value is STALE where its column is missing.

        `times` rise, and the first is after the newest row: this is for who replays, not for who scrapes.
        """
        with self._writing:
            row = self.next_row
            before = dict(zip(self._present, self._lasts, strict=True))
            for column in before.keys() - present.keys():
                column.end(row, before[column])
            lasts = {column: column.extend(row, some, before.get(column, 0.0)) for column, some in present.items()}
            self._present = [column for column in lasts if column.live]
            self._lasts = [lasts[column] for column in self._present]
            self.next_row = row + len(times)
            self.view[0].extend(times)

    def end(self, at: Instant) -> None:
        """All series are over at `at`, or right behind the newest row: each gets a staleness marker."""
        with self._writing:
            newest = self.newest_time
            self._append(at if newest is None else max(at, newest + 1), (), ())

    def _append(self, at: Instant, present: Sequence[Column], values: Sequence[float]) -> None:
        row = self.next_row
        if present is not self._present:
            self._change(row, present, values)
        for column, value, last in zip(present, values, self._lasts, strict=True):
            if value < last and column.counter:
                column.resets.append(row)
            column.view[0].append(value)
        self._lasts = values
        self.next_row = row + 1
        self.view[0].append(at)

    def _add(self, column: Column) -> None:
        self._adopt(column)
        self.columns[column.labels] = column

    def _change(self, row: int, present: Sequence[Column], values: Sequence[float]) -> None:
        stays = set(map(id, present))
        lasts = dict(zip(map(id, self._present), self._lasts, strict=True))
        for column in self._present:
            if id(column) not in stays:
                column.end(row, lasts[id(column)])
        for column, value in zip(present, values, strict=True):
            if not column.live:
                if column.labels not in self.columns:
                    self._add(column)  # it was pruned away while the writer still held it
                column.resume(row, value)
        # A column that was not there before has its reset noted by `resume`: nothing is smaller than itself.
        self._lasts = [lasts.get(id(column), value) for column, value in zip(present, values, strict=True)]
        self._present = present

    def prune(self, before: Instant) -> list[Column]:
        """Forget the rows before `before`; return the columns that are gone with them."""
        with self._writing:
            times, base = self.view
            cut = bisect_left(times, before)
            if cut:
                for column in self.columns.values():
                    column.prune(base + cut)
                self.view = (times[cut:], base + cut)
            if not self.view[0]:
                self._let_go()
            return self._drop_ended()

    def shift(self, by: Duration) -> None:
        """Move every row in time."""
        with self._writing:
            times, base = self.view
            self.view = (array("q", [at + by for at in times]), base)

    def _let_go(self) -> None:
        """Nothing has been written for so long that no row is left: what was there then may never come again."""
        for column in self._present:
            column.live = False
        self._present = self._lasts = ()

    def _drop_ended(self) -> list[Column]:
        gone = [column for column in self.columns.values() if column.is_over]
        for column in gone:
            del self.columns[column.labels]
        return gone
