"""From series to rows: the samples of a target's scrapes share their times again, as they did when it was scraped."""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence

from monitor.backtest.source import COUNTER_ENDINGS, UP, Samples, Source
from monitor.model.instant import Duration, Instant
from monitor.model.labels import INSTANCE, JOB, Labels
from monitor.model.sample import STALE
from monitor.storage.column import Block, Column
from monitor.storage.window import Window

TargetKey = tuple[str, str]


class SeriesFeed:
    """
    Writes what a source has into the window; at least a `page` of it is read at a time.

    No source tells all staleness markers: Prometheus' API leaves them out. A series that the page of its target lacked
    at a scrape ended there, and this is known again: the scrapes of a target are where `up` has samples, or else
    the longest of its series. A series with times of its own has no such ends, as when it is scraped.
    """

    def __init__(self, window: Window, source: Source, after: Instant, page: Duration) -> None:
        self._window = window
        self._source = source
        self._page = page
        self._read_until = self._fed_until = after
        self._waiting: list[Samples] = []
        self._own: dict[Labels, bool] = {}
        self._left_out: Collection[str] = ()

    def leave_out(self, names: Collection[str]) -> None:
        """Never write series of these names."""
        self._left_out = names

    def feed(self, until: Instant) -> None:
        """Write everything up to `until`."""
        while self._fed_until < until:
            if self._fed_until >= self._read_until:
                end = max(until, self._fed_until + self._page)
                self._waiting = list(self._source.read(self._read_until, end))
                self._read_until = end
            stop = min(until, self._read_until)
            self._write(self._fed_until, stop)
            self._fed_until = stop

    def _write(self, after: Instant, until: Instant) -> None:
        targets: defaultdict[TargetKey, list[Samples]] = defaultdict(list)
        for one in self._waiting:
            part = _part(one, after, until)
            if part.times and one.labels.name not in self._left_out:
                targets[one.labels.value(JOB), one.labels.value(INSTANCE)].append(part)
        for key, series in targets.items():
            self._write_target(key, series)

    def _write_target(self, key: TargetKey, series: Sequence[Samples]) -> None:
        scrapes = _scrapes(series)
        known: set[Instant] | None = None
        shared: list[Samples] = []
        for one in series:
            alone = self._own.get(one.labels)
            if alone is None:
                is_scraped = _same(one.times, scrapes)
                if not is_scraped:
                    known = known or set(scrapes)
                    is_scraped = known.issuperset(one.times)
                alone = self._own[one.labels] = not is_scraped
            if alone:
                _extend(self._window.block((*key, one.labels)), one.times, [one])
            else:
                shared.append(one)
        if shared:
            _extend(self._window.block(key), _all_times(scrapes, shared), shared)


def _same(one: "array[int]", other: "array[int]") -> bool:
    """Say whether the times are the same: most often they are the same object."""
    return one is other or one == other


def _part(one: Samples, after: Instant, until: Instant) -> Samples:
    times = one.times
    if not times or (times[0] > after and times[-1] <= until):
        return one
    start, end = bisect_right(times, after), bisect_right(times, until)
    return Samples(one.labels, times[start:end], one.values[start:end])


def _scrapes(series: Sequence[Samples]) -> "array[int]":
    for one in series:
        if one.labels.name == UP:
            return one.times
    return max((one.times for one in series), key=len)


def _all_times(scrapes: "array[int]", series: Sequence[Samples]) -> "array[int]":
    times: set[Instant] | None = None
    for one in series:
        if not _same(one.times, scrapes):
            times = set(scrapes) if times is None else times
            times.update(one.times)
    if times is None or len(times) == len(scrapes):
        return scrapes
    return array("q", sorted(times))


def _extend(block: Block, times: "array[int]", series: Sequence[Samples]) -> None:
    newest = block.newest_time
    if newest is not None and times[0] <= newest:
        return
    written: dict[Column, array[float]] = {}
    places: dict[Instant, int] | None = None
    for one in series:
        column = block.column(one.labels, counter=one.labels.name.endswith(COUNTER_ENDINGS))
        if _same(one.times, times):
            written[column] = one.values
            continue
        if places is None:
            places = {at: row for row, at in enumerate(times)}
        values = array("d", [STALE]) * len(times)
        for at, value in zip(one.times, one.values, strict=True):
            values[places[at]] = value
        written[column] = values
    block.extend(times, written)
