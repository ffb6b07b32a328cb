"""
Window and history as one, for whoever asks over HTTP.

A query that stays within what the window has sees the window and nothing else. One that reaches further back sees every
series that is kept as the history has it, a sample a minute, all along and in the last hour too: what is made of a
range (an average, a count) must not weigh the last hour twelve times as much as the hours before.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher
from monitor.promql import Engine, ErrorKind, Plan, PromqlError, Result
from monitor.promql.reads import Matchers, Stretch, reads
from monitor.promql.run import LOOKBACK
from monitor.storage.column import Block, Column
from monitor.storage.db import StateError
from monitor.storage.history.chunk import Samples, merged
from monitor.storage.history.history import History
from monitor.storage.history.reading import TooManySamplesError
from monitor.storage.history.thinning import Thinned
from monitor.storage.window import Window

Steps: TypeAlias = range
# So many samples may one query take from the disk: 32 MB.
MOST_SAMPLES = 2_000_000


@dataclass(frozen=True)
class LongTerm:
    """
    What there is of all times.

    `since` is from when on the window has everything that is still written, and `begun` when this life began: what
    nobody writes any more is in the history until then. Raises PromqlError where the disk cannot be read.
    """

    window: Window
    history: History
    since: Instant
    begun: Instant

    def horizon(self, now: Instant) -> Instant:
        """Return from when on the window has everything."""
        return max(self.since, now - self.window.retention)

    def labels(self, matchers: Sequence[Matcher], after: Instant, until: Instant) -> Sequence[Labels]:
        """Return the series in the history that satisfy all matchers and have chunks in `(after, until]`."""
        try:
            return self.history.reader.labels(matchers, after, until)
        except StateError as err:
            raise PromqlError(f"history: {err}", kind=ErrorKind.EXECUTION) from err


class LongEngine:
    """Evaluates over all times; `now` tells how far back the window reaches. Raises PromqlError."""

    def __init__(self, engine: Engine, long_term: LongTerm, now: Instant, lookback: Duration = LOOKBACK) -> None:
        self._engine = engine
        self._long_term = long_term
        self._horizon = long_term.horizon(now)
        self._fetched = max(self._horizon, long_term.begun)
        self._lookback = lookback

    def instant(self, plan: Plan, at: Instant) -> Result:
        return self._over(plan, range(at, at + 1)).instant(plan, at)

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        # A step that makes no sense is the engine's to refuse.
        return self._over(plan, range(start, max(start, end) + 1, max(step, 1))).range(plan, start, end, step)

    def _over(self, plan: Plan, steps: Steps) -> Engine:
        read = reads(plan, steps.start, steps.stop - 1, self._lookback)
        beyond = {matchers: stretch for matchers, stretch in read.items() if stretch.after < self._horizon}
        return self._engine.over(Stitched(self._long_term, beyond, steps, self._fetched)) if beyond else self._engine


class Stitched:
    """The storage of one query: what reaches `beyond` the window is fetched, once, as far as the `horizon`."""

    def __init__(
        self,
        long_term: LongTerm,
        beyond: Mapping[Matchers, Stretch],
        steps: Steps,
        horizon: Instant,
        most: int = MOST_SAMPLES,
    ) -> None:
        self._steps = steps
        self._horizon = horizon
        self._long_term = long_term
        self._beyond = beyond
        self._room = most
        self._found: dict[Matchers, Sequence[Column]] = {}

    def select(self, matchers: Sequence[Matcher]) -> Sequence[Column]:
        """Return the series that satisfy all matchers, each label set once."""
        key = tuple(matchers)
        if key not in self._beyond:
            return self._long_term.window.select(matchers)
        if key not in self._found:
            self._found[key] = self._stitched(key)
        return self._found[key]

    def _stitched(self, matchers: Matchers) -> Sequence[Column]:
        stretch = self._beyond[matchers]
        after, until = stretch.after, stretch.until
        # The window first: what is pruned from it meanwhile has been in the history for long.
        recent = self._long_term.window.select(matchers)
        past = self._past(matchers, replace(stretch, until=min(until, self._horizon)))
        if not past:
            # There is no more than the window has: a daemon in its first hour, say.
            return recent
        whole: list[Column] = []
        joined: dict[Labels, Samples] = {}
        thinned: dict[Block, Thinned] = {}
        for column in recent:
            stored = past.pop(column.labels, None)
            if stored is None and not self._long_term.history.keep.keeps(column.labels):
                whole.append(column)
                continue
            block = thinned.get(column.block) or thinned.setdefault(column.block, Thinned(column.block, after, until))
            joined[column.labels] = _joined(stored, block.samples(column), _first(column))
        return [*whole, *_columns({**joined, **past}.items())]

    def _past(self, matchers: Matchers, stretch: Stretch) -> dict[Labels, Samples]:
        thin = partial(_at_steps, self._steps) if stretch.at_steps else None
        reader = self._long_term.history.reader
        try:
            found = reader.select(matchers, stretch.after, stretch.until, self._room, thin)
        except TooManySamplesError as err:
            raise PromqlError(
                f"query processing would load too many samples from the history: more than {self._room}",
                kind=ErrorKind.EXECUTION,
            ) from err
        except StateError as err:
            raise PromqlError(f"history: {err}", kind=ErrorKind.EXECUTION) from err
        self._room -= sum(len(stored.samples[0]) for stored in found)
        return {stored.labels: stored.samples for stored in found}


def _at_steps(steps: Steps, samples: Samples) -> Samples:
    """Return the samples that are the newest ones at any of the steps: of a month looked at by the hour, few."""
    times, values = samples
    if len(steps) >= len(times):
        return samples
    places = sorted({bisect_right(times, at) - 1 for at in steps} - {-1})
    return array("q", [times[place] for place in places]), array("d", [values[place] for place in places])


def _first(column: Column) -> Instant:
    """Return the time of the first row of the window that the column stands in."""
    times, base = column.block.view
    place = max(column.view[1] - base, 0)
    return times[place] if place < len(times) else 2**63 - 1


def _joined(past: Samples | None, recent: Samples, first: Instant) -> Samples:
    """Return what was before the window's `first` row, and the window behind it."""
    if past is None:
        return recent
    times, values = past
    # What both have is the same; at the very first row the window does not know whether the series began there.
    count = bisect_right(times, first)
    return merged([recent, (times[:count], values[:count])])


def _columns(series: Iterable[tuple[Labels, Samples]]) -> list[Column]:
    """Return the series as columns; those of the same times stand side by side in one block."""
    groups: dict[bytes, tuple[array[int], list[tuple[Labels, array[float]]]]] = {}
    for labels, (times, values) in series:
        if times:
            groups.setdefault(times.tobytes(), (times, []))[1].append((labels, values))
    columns: list[Column] = []
    for times, some in groups.values():
        block = Block()
        made = {block.column(labels): values for labels, values in some}
        block.extend(times, made)
        columns += made
    return columns
