"""
Which samples of the window are kept: of each minute the last, and where a series begins or ends.

So a series of a group that is evaluated every minute is kept whole. Of one that comes every five seconds one sample in
twelve stays, yet an alert that fires for twenty seconds is seen to begin and to end.
"""

from array import array
from bisect import bisect_left, bisect_right

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.sample import STALE, is_stale
from monitor.storage.column import Block, Column
from monitor.storage.history.chunk import Samples

RESOLUTION: Duration = MINUTE


def minute_of(at: Instant) -> int:
    """Return which minute, each with its end and without its beginning, a time belongs to."""
    return -(-at // RESOLUTION)


class Thinned:
    """The rows of one block in `(after, until]`, of which each minute's last is known; for all columns of the block."""

    def __init__(self, block: Block, after: Instant, until: Instant) -> None:
        times, base = block.view
        start = bisect_right(times, after)
        self._base = base
        self._first = start + base
        self._times = times[start : bisect_right(times, until)]
        minutes = [minute_of(at) for at in self._times]
        self._lasts = [
            place for place, minute in enumerate(minutes) if place + 1 == len(minutes) or minutes[place + 1] != minute
        ]
        self._minutes = minutes
        # Every row is the last of its minute, as where rules are evaluated once a minute: nothing need be picked.
        self._whole = len(self._lasts) == len(minutes)
        self._shared = array("q", [self._times[place] for place in self._lasts])

    def samples(self, column: Column) -> Samples:
        """Return what is kept of a column; a staleness marker stands where it ended."""
        if not self._times:
            return array("q"), array("d")
        gaps = column.gaps
        values, first = column.view
        end = self._first + len(self._times)
        known = first < self._first or (first == self._first == self._base)
        if known and end - first <= len(values) and bisect_left(gaps, self._first - 1) == bisect_left(gaps, end):
            own = values[self._first - first : end - first]
            return self._shared, own if self._whole else array("d", [own[place] for place in self._lasts])
        return self._picked(values, first)

    def _picked(self, values: "array[float]", first: int) -> Samples:
        offset = self._first - first
        own = [
            values[offset + place] if 0 <= offset + place < len(values) else STALE for place in range(len(self._times))
        ]
        there = [not is_stale(value) for value in own]
        # Of the samples of a minute the last one stays here.
        lasts = {self._minutes[place]: place for place, is_there in enumerate(there) if is_there}
        chosen = set(lasts.values())
        was = self._was_there(values, offset - 1)
        for place, is_there in enumerate(there):
            if was is not None and was != is_there:
                chosen.add(place)
            was = is_there
        places = sorted(chosen)
        return array("q", [self._times[place] for place in places]), array("d", [own[place] for place in places])

    def _was_there(self, values: "array[float]", index: int) -> bool | None:
        """Say whether the series was there in the row before; None where nobody knows any more."""
        if 0 <= index < len(values):
            return not is_stale(values[index])
        return None if self._first == self._base else False
