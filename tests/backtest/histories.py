"""Histories to backtest: recordings as series, as files that promtool writes, and with what happens to servers."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from monitor.backtest.feed import SeriesFeed
from monitor.backtest.recording import RecordingFeed, period_of
from monitor.backtest.source import Feed, Period, Samples, Source
from monitor.config.config import Config
from monitor.config.flags import Flags, from_flags
from monitor.model.instant import HOUR, SECOND, Duration, Instant
from monitor.model.labels import INSTANCE, METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.model.sample import format_value, is_stale
from monitor.storage.column import Column
from monitor.storage.window import Window
from tests.recorded import RECORDINGS

OVERLOAD = RECORDINGS / "vllm-0.32.0-overload-1s.jsonl.gz"
HANG = RECORDINGS / "vllm-0.32.0-hang.jsonl.gz"
STEP = 5 * SECOND


def shipped() -> Config:
    """Return the configuration of a daemon without one: the shipped rules and what they inhibit."""
    return from_flags(Flags(targets=("127.0.0.1:1",)), {})


@dataclass(frozen=True)
class Recorded:
    """Recordings, scraped again."""

    paths: Sequence[Path]

    @property
    def period(self) -> Period:
        period = period_of(self.paths, STEP)
        return Period(period.start, period.end - period.end % STEP, STEP)

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:  # noqa: ARG002 - the same either way
        return RecordingFeed(window, self.paths, names, period.interval)

    def window(self) -> Window:
        """Return a window with all of it."""
        window = Window(10**15)
        self.feed(window, None, self.period, by_slots=True).feed(self.period.end)
        return window


@dataclass(frozen=True)
class InMemory:
    """Series as they are."""

    series: Sequence[Samples]
    period: Period

    def read(self, after: Instant, until: Instant) -> Iterable[Samples]:
        for one in self.series:
            places = [place for place, at in enumerate(one.times) if after < at <= until]
            if places:
                cut = slice(places[0], places[-1] + 1)
                yield Samples(one.labels, one.times[cut], one.values[cut])

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:
        wanted = [one for one in self.series if names is None or one.labels.name in names]
        source: Source = InMemory(wanted, self.period)
        return SeriesFeed(window, source, period.start - HOUR, HOUR if by_slots else 0)


def samples_of(window: Window) -> list[Samples]:
    """Return the series of a window without markers, as Prometheus' API tells them."""
    return [_samples(column) for name in window.names() for column in window.select((equal(METRIC_NAME, name),))]


def _samples(column: Column) -> Samples:
    times, values = column.between(-1, 10**15)
    return Samples(column.labels, array("q", times), array("d", values))


def write_openmetrics(path: Path, series: Iterable[Samples]) -> None:
    """Write what `promtool tsdb dump-openmetrics` writes."""
    with path.open("w") as file:
        for one in series:
            for at, value in zip(one.times, one.values, strict=True):
                file.write(f"{_named(one.labels)} {_number(value)} {at / 1000:.3f}\n")
        file.write("# EOF\n")


def write_dump(path: Path, series: Iterable[Samples]) -> None:
    """Write what `promtool tsdb dump` writes."""
    with path.open("w") as file:
        for one in series:
            pairs = ", ".join(f'{name}="{value}"' for name, value in one.labels)
            for at, value in zip(one.times, one.values, strict=True):
                file.write(f"{{{pairs}}} {_number(value)} {at}\n")


def _named(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{value}"' for name, value in labels if name != METRIC_NAME)
    return f"{labels.name}{{{pairs}}}"


def _number(value: float) -> str:
    return "NaN" if is_stale(value) else format_value(value)


def troubled(series: Sequence[Samples], random: Random, slots: int, step: Duration) -> InMemory:
    """
    Return a server that does what it did when it was recorded, in another order, with scrapes that fail and restarts.

    Each target of the result is the recorded one at some second or other, going on or jumping.
    """
    start = 1_790_000_000_000 - 1_790_000_000_000 % (60 * SECOND)
    times = [start + step * slot for slot in range(slots)]
    found = [one for number in range(2) for one in _server(series, random, times, f"server-{number}")]
    return InMemory(found, Period(start + step, times[-1], step))


def _server(series: Sequence[Samples], random: Random, times: Sequence[Instant], name: str) -> Iterator[Samples]:
    length = max(len(one.times) for one in series)
    whole = [one for one in series if len(one.times) == length]
    rows = list(_rows(random, length, times))
    for one in whole:
        labels = one.labels.with_({INSTANCE: name})
        if labels.name == "up":
            yield Samples(labels, array("q", times), array("d", [float(row is not None) for row in rows]))
            continue
        is_counter = labels.name.endswith(("_total", "_bucket", "_count", "_sum"))
        there = [(at, row) for at, row in zip(times, rows, strict=True) if row is not None]
        values = [one.values[place] + (rounds * one.values[-1] if is_counter else 0.0) for _, (place, rounds) in there]
        yield Samples(labels, array("q", [at for at, _ in there]), array("d", values))


def _rows(random: Random, length: int, times: Sequence[Instant]) -> Iterator[tuple[int, int] | None]:
    """Yield the recorded second that each scrape shows and how often it has come round; None for one that fails."""
    place, rounds, down = random.randrange(length), 0, 0
    for _ in times:
        if not down and random.random() < 0.01:
            down = random.choice((1, 1, 3, 12))
            if random.random() < 0.5:
                # It comes back as another process.
                place, rounds = 0, 0
        if down:
            down -= 1
            yield None
            continue
        yield place, rounds
        # It hangs for a while, goes on, or is somewhere else.
        place += random.choice((0, 1, 1, 5, 5, 5, 15))
        if place >= length:
            place, rounds = place - length, rounds + 1
