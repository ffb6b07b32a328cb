"""Instant selectors, and what range selectors share with them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from monitor.model.instant import Duration, Instant
from monitor.model.matcher import Matcher
from monitor.model.sample import is_stale
from monitor.promql.frame import Frame, Steps, Value, framed
from monitor.promql.memo import Memo
from monitor.promql.node import VectorNode
from monitor.promql.run import Run
from monitor.promql.vector import Series, Vector
from monitor.storage.column import Block, Column


class Anchor(Enum):
    """The two times of the whole query that `@` may name."""

    START = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Shift:
    """`offset` and `@`, in milliseconds: which time is read at the time of evaluation."""

    offset: Duration = 0
    at: Instant | Anchor | None = None

    def apply(self, run: Run, at: Instant) -> Instant:
        """Return the time that is read, the offset applied to the time of `@`."""
        if self.at is None:
            return at - self.offset
        if self.at is Anchor.START:
            return run.start - self.offset
        if self.at is Anchor.END:
            return run.end - self.offset
        return self.at - self.offset

    @property
    def fixed(self) -> bool:
        return self.at is not None


class Selected:
    """The series of a selector, those of one block side by side: `series` are the labels in that order."""

    __slots__ = ("blocks", "series")

    def __init__(self, columns: Sequence[Column]) -> None:
        by_block: dict[Block, list[Column]] = {}
        for column in columns:
            by_block.setdefault(column.block, []).append(column)
        self.blocks = tuple(by_block.items())
        self.series: Series = tuple([column.labels for _, some in self.blocks for column in some])


class Selection:
    """Finds the series of one selector; once an evaluation, so that all its steps see the same."""

    __slots__ = ("_memo", "matchers")

    def __init__(self, matchers: tuple[Matcher, ...]) -> None:
        self.matchers = matchers
        self._memo: Memo[Sequence[Column], Selected] = Memo(Selected)

    def of(self, run: Run) -> Selected:
        found = run.caches.get(self)
        if found is None:
            found = self._memo.of(run.storage.select(self.matchers))
            run.caches[self] = found
        assert isinstance(found, Selected)  # noqa: S101 - tells the type checker what this key holds
        return found


class InstantSelector(VectorNode):
    """The newest sample of each series in the lookback."""

    __slots__ = ("selection", "shift")

    def __init__(self, selection: Selection, shift: Shift) -> None:
        super().__init__()
        self.selection = selection
        self.shift = shift
        self.moving = not shift.fixed

    def vector(self, run: Run, at: Instant) -> Vector:
        selected = self.selection.of(run)
        until = self.shift.apply(run, at)
        values: list[float | None] = []
        for block, columns in selected.blocks:
            values += newest(block, columns, until - run.lookback, until)
        run.touch(len(values))
        return present(selected.series, values)

    def frame(self, run: Run, steps: Steps) -> Frame:
        if self.shift.fixed:
            return super().frame(run, steps)
        selected = self.selection.of(run)
        columns: list[list[Value]] = []
        for block, some in selected.blocks:
            rows = steps.rows(block, self.shift.offset, run.lookback)
            columns += [rows.values(column) for column in some]
        return framed(selected.series, columns)

    def times(self, run: Run, at: Instant) -> Vector:
        """Return the times of the samples, in seconds, in place of their values."""
        selected = self.selection.of(run)
        until = self.shift.apply(run, at)
        found = [column.newest(until - run.lookback, until) for _, columns in selected.blocks for column in columns]
        run.touch(len(found))
        return present(selected.series, [None if sample is None else sample[0] / 1000 for sample in found])


def newest(block: Block, columns: Sequence[Column], after: Instant, until: Instant) -> list[float | None]:
    """Return the newest value of each column in `(after, until]`; None where there is none or a stale marker."""
    times, base = block.view
    row = bisect_right(times, until) + base - 1
    if row < base or times[row - base] <= after:
        return [None] * len(columns)
    found: list[float | None] = []
    for column in columns:
        values, first = column.view
        # A column that ends before the row has a stale marker last, or nothing.
        value = values[row - first] if first <= row < first + len(values) else None
        found.append(None if value is None or (value != value and is_stale(value)) else value)  # noqa: PLR0124 - NaN
    return found


def present(series: Series, values: Sequence[float | None]) -> Vector:
    """Return the vector of the series that have a value."""
    there = [value for value in values if value is not None]
    if len(there) < len(series):
        series = tuple([labels for labels, value in zip(series, values, strict=True) if value is not None])
    return Vector(series, there)
