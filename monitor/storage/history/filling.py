"""
The window filled from the history after a restart, so that three days of a burn rate are three days again.

What is filled in has a sample a minute at most; behind it stand the rows of the snapshot.
"""

import json
import logging
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.model.sample import STALE, is_stale
from monitor.storage.db import StateError
from monitor.storage.history.chunk import Samples
from monitor.storage.history.file import SeriesRow
from monitor.storage.history.reading import Reader
from monitor.storage.history.thinning import minute_of
from monitor.storage.owners import hashable
from monitor.storage.window import Window

log = logging.getLogger(__name__)

_Series = tuple[SeriesRow, Labels]


class Filler:
    """
    Writes what the series of `owners` were, as far back as `window` keeps each, into blocks that are empty yet.

    What a rule wrote goes into the block of that rule. What cannot be read stays away: alerts go on without.
    """

    def __init__(self, reader: Reader, window: Window, owners: Collection[Hashable], now: Instant) -> None:
        self._reader = reader
        self._window = window
        self._now = now
        self._left: dict[Hashable, list[_Series]] = defaultdict(list)
        # Every row of it holds all series, so it is opened once.
        self._head: Sequence[Mapping[int, Samples]] = ()
        try:
            self._sort(frozenset(owners))
            self._head = reader.head(now - max([window.retention, *window.longer.values()]), now + 1)
        except StateError as err:
            log.warning("window not filled", extra={"reason": str(err)})

    def before(self, owner: Hashable, first: Instant) -> None:
        """Fill what `owner` wrote before `first`."""
        try:
            self._fill(owner, self._left.pop(owner, ()), first)
        except StateError as err:
            log.warning("window not filled", extra={"reason": str(err)})

    def rest(self) -> None:
        """Fill what all others wrote until now."""
        for owner in tuple(self._left):
            self.before(owner, self._now + 1)
        self._head = ()

    def _sort(self, at_work: AbstractSet[Hashable]) -> None:
        for row, labels in self._reader.series(()):
            owner = _owner(row)
            if owner in at_work:
                self._left[owner].append((row, labels))

    def _fill(self, owner: Hashable, series: Iterable[_Series], first: Instant) -> None:
        found: list[tuple[_Series, Samples]] = []
        for reach, some in _by_reach(series, self._reach).items():
            ids = {row.id for row, _ in some}
            samples = self._reader.samples(ids, self._now - reach, first - 1, self._head)
            found += [(one, samples[one[0].id]) for one in some if one[0].id in samples]
        times = _minutes(times for _, (times, _) in found)
        if not times:
            return
        block = self._window.block(owner)
        if block.newest_time is not None:
            return
        block.extend(
            times,
            {block.column(labels, counter=row.counter): _at(times, samples) for (row, labels), samples in found},
        )

    def _reach(self, name: str) -> Duration:
        return max(self._window.retention, self._window.longer.get(name, 0))


def _owner(row: SeriesRow) -> Hashable:
    try:
        return hashable(json.loads(row.owner))
    except (ValueError, KeyError, TypeError):
        return None  # what stands there is damaged: nobody's


def _by_reach(series: Iterable[_Series], reach: Callable[[str], Duration]) -> dict[Duration, list[_Series]]:
    found: dict[Duration, list[_Series]] = defaultdict(list)
    for one in series:
        found[reach(one[0].name)].append(one)
    return found


def _minutes(columns: Iterable["array[int]"]) -> "array[int]":
    """Return of each minute the last time at which any series has a sample: a row must be one of all of them."""
    lasts: dict[int, Instant] = {}
    # Most series have the same times as others.
    for times in {bytes(memoryview(times)): times for times in columns}.values():
        for at in times:
            minute = minute_of(at)
            if at > lasts.get(minute, -(2**63)):
                lasts[minute] = at
    return array("q", sorted(lasts.values()))


def _at(rows: Sequence[Instant], samples: Samples) -> "array[float]":
    """Return the value of a series at each of the rows, the staleness marker where it has none."""
    times, values = samples
    if times == rows:
        return values
    found = array("d", [STALE]) * len(rows)
    for at, value in zip(times, values, strict=True):
        place = bisect_left(rows, at)
        if place < len(rows) and rows[place] == at and not is_stale(value):
            found[place] = value
    return found
