"""
A backtest: a month of one target, scraped every 15 s, through all shipped rules.

The month is made of a recorded overload, scrape by scrape, which is a quarter of it; between two of them the server
idles for three times as long. It is played from memory, and what it takes to read a file of it is measured on a day.
"""

import resource
import time
from array import array
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from monitor.backtest.dump import Dump
from monitor.backtest.feed import SeriesFeed
from monitor.backtest.source import COUNTER_ENDINGS, Feed, Period, Samples
from monitor.commands.backtesting import names_of, play
from monitor.model.instant import DAY, SECOND, Duration, Instant
from monitor.storage.window import Window
from tests.backtest.histories import OVERLOAD, Recorded, samples_of, shipped, write_openmetrics

_DAYS = 30
_STEP: Duration = 15 * SECOND
_START: Instant = 1_790_035_200_000
_IDLE = 3
_BUDGET = 60


class Month:
    """The recorded second after second every 15 s, then as often the last one, and again."""

    def __init__(self, names: frozenset[str] | None) -> None:
        whole = samples_of(Recorded([OVERLOAD]).window())
        length = max(len(one.times) for one in whole)
        wanted = [one for one in whole if names is None or one.labels.name in names]
        self.samples = 0
        self.seconds = 0.0
        self._length = length
        # What came with the first request is there from the beginning here.
        self._cycles = [
            (
                one.labels,
                array("d", [one.values[0]] * (length - len(one.times))) + one.values,
                one.labels.name.endswith(COUNTER_ENDINGS),
            )
            for one in wanted
        ]

    def read(self, after: Instant, until: Instant) -> Iterable[Samples]:
        began = time.process_time()
        slots = range(after // _STEP + 1, until // _STEP + 1)
        times = array("q", [slot * _STEP for slot in slots])
        places = [divmod(slot, self._length * (1 + _IDLE)) for slot in slots]
        last = self._length - 1
        found = []
        for labels, cycle, is_counter in self._cycles:
            rise = cycle[last] if is_counter else 0.0
            idle = cycle[last] if is_counter else cycle[0]
            values = [(cycle[place] if place <= last else idle) + rounds * rise for rounds, place in places]
            found.append(Samples(labels, times, array("d", values)))
        self.samples += len(times) * len(found)
        self.seconds += time.process_time() - began
        return found

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:  # noqa: ARG002 - there is one way
        return SeriesFeed(window, self, period.start - 1, 0)


def _played() -> tuple[float, int, float, int]:
    """Return CPU seconds, samples, megabytes and alerts."""
    config = shipped()
    month = Month(names_of(config))
    began = time.process_time()
    outcome = play(config, month, Period(_START, _START + _DAYS * DAY, _STEP), lambda _: None).outcome
    took = time.process_time() - began - month.seconds
    episodes = sum(len(one.episodes) for one in outcome.fired)
    return took, month.samples, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, episodes


def _read() -> float:
    """Return the CPU seconds that a million samples of a dump take to read."""
    names = names_of(shipped())
    month = Month(names)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "day.om"
        write_openmetrics(path, month.read(_START, _START + DAY))
        began = time.process_time()
        dump = Dump(path, names)
        read = sum(len(one.times) for one in dump.read(0, _START + DAY))
        return (time.process_time() - began) / read * 1e6


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    with get_context("spawn").Pool(1) as pool:
        evaluated, samples, megabytes, episodes = pool.apply(_played)
        reading = pool.apply(_read) * samples / 1e6
    what = f"backtest: {_DAYS} days of one target every 15 s, {samples / 1e6:.0f} million samples"
    return [
        (f"{what}, {episodes} episodes: all shipped rules", f"{evaluated:.1f} s CPU", ""),
        ("backtest: reading as many samples from an OpenMetrics dump", f"{reading:.1f} s CPU", ""),
        ("backtest: both", f"{evaluated + reading:.1f} s CPU", f"≤ {_BUDGET} s"),
        ("backtest: resident memory at most", f"{megabytes:.0f} MB", "≤ 500 MB"),
    ]
