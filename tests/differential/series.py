"""Random series as a monitor of vLLM meets them, for our window and for a Prometheus alike."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from monitor.model.labels import Labels
from monitor.model.sample import STALE
from monitor.storage.window import Window

MINUTE = 60_000
ROWS_MINUTES = 40
_BOUNDS = ("0.1", "0.5", "1", "2.5", "+Inf")


@dataclass
class Walk:
    """
    How one series goes on: `next` gives the next value, None while it is missing.

    `shape`: counter, gauge, noise (never the same value twice), wild (NaN and infinities), constant.
    """

    random: Random
    shape: str
    value: float = 0.0
    missing: int = 0

    def next(self) -> float | None:
        if self.missing > 0:
            self.missing -= 1
            return None
        if self.random.random() < 0.03:
            self.missing = self.random.choice((1, 1, 2, 5, 25))
        return self._step()

    def _step(self) -> float:
        random = self.random
        if self.shape == "counter":
            self.value = 0.0 if random.random() < 0.03 else self.value + random.choice((0, 0, 1, 2, 7, 0.5))
        elif self.shape == "gauge":
            self.value = float(max(0, self.value + random.randint(-3, 3)))
        elif self.shape == "noise":
            self.value = random.uniform(-100, 100)
        elif self.shape == "wild":
            return random.choice((math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.5, 1e300, 1e-300, random.random()))
        else:
            self.value = 1.0
        return self.value


@dataclass
class Histogram:
    """The buckets, the count and the sum of one histogram; `odd` ones are not what they should be."""

    random: Random
    odd: bool
    counts: list[float] = field(default_factory=lambda: [0.0] * len(_BOUNDS))

    def next(self) -> list[float]:
        if self.random.random() < 0.02:
            self.counts = [0.0] * len(_BOUNDS)
        for _ in range(self.random.randint(0, 4)):
            first = self.random.randrange(len(_BOUNDS))
            for index in range(first, len(_BOUNDS)):
                self.counts[index] += 1
        if self.odd and self.random.random() < 0.3:
            return [count + self.random.choice((0, 0, 3)) for count in self.counts]
        return list(self.counts)


@dataclass
class Target:
    """What one target exposes, and when it was scraped."""

    walks: Mapping[Labels, Walk]
    histograms: list[tuple[list[Labels], Histogram]]
    times: list[int]

    def rows(self) -> Iterator[tuple[int, dict[Labels, float]]]:
        for at in self.times:
            row = {labels: value for labels, walk in self.walks.items() if (value := walk.next()) is not None}
            for buckets, histogram in self.histograms:
                row.update(zip(buckets, histogram.next(), strict=True))
            yield at, row


def targets(random: Random, start: int, *, late: int | None = None) -> list[Target]:
    """
    Return a few targets of one job or two, scraped for a while from `start` on.

    `late` is how many milliseconds after their slots the scrapes are; None lets each be a little late or not.
    """
    return [_target(random, start, job, number, late) for job in ("vllm", "api") for number in range(2)]


def _target(random: Random, start: int, job: str, number: int, late: int | None) -> Target:
    own = {"job": job, "instance": f"i{number}"}
    walks = {}
    for name, shape, label in (
        ("requests_total", "counter", "path"),
        ("errors_total", "counter", "path"),
        ("vllm:num_requests_running", "gauge", "model_name"),
        ("noise", "noise", "path"),
        ("wild", "wild", "path"),
        ("up", "constant", ""),
    ):
        for value in ("/a", "/b", "")[: random.randint(1, 3)] if label else ("",):
            labels = Labels.of({**own, "__name__": name, label or "unused": value})
            walks[labels] = Walk(random, shape, float(random.randint(0, 9)), random.choice((0, 0, 0, 9)))
    walks[Labels.of(own, __name__="build_info", version=f"v{number}")] = Walk(random, "constant")
    histograms = [(_buckets("latency_seconds_bucket", own, _BOUNDS), Histogram(random, odd=False))]
    if number:
        bounds = random.choice(
            (("1", "1.0", "2", "+Inf", "x"), ("1", "2", "3", "4", ""), ("-1", "0", "2", "inf", "1e2"))
        )
        histograms.append((_buckets("odd_bucket", own, bounds), Histogram(random, odd=True)))
    return Target(walks, histograms, _times(random, start, late))


def _buckets(name: str, own: Mapping[str, str], bounds: tuple[str, ...]) -> list[Labels]:
    return [Labels.of(own, __name__=name, le=bound) for bound in bounds]


def _times(random: Random, start: int, late: int | None) -> list[int]:
    interval = random.choice((10_000, 15_000, 30_000))
    first = start + (random.choice((0, 0, 3_217)) if late is None else late)
    times = range(first, start + ROWS_MINUTES * MINUTE, interval)
    # Now and then a scrape is late, or left out altogether, without a marker.
    return [at + (random.choice((0, 0, 0, 1)) if late is None else 0) for at in times if random.random() > 0.02]


def fill(window: Window, found: list[Target]) -> list[tuple[Labels, list[tuple[int, float]]]]:
    """Write the targets into `window`, and return the same samples series by series, with stale markers."""
    series: dict[Labels, list[tuple[int, float]]] = {}
    for owner, target in enumerate(found):
        block = window.block(owner)
        before: set[Labels] = set()
        for at, row in target.rows():
            columns = [block.column(labels, counter=not _is_gauge(labels.name)) for labels in row]
            block.append(at, columns, list(row.values()))
            for labels, value in row.items():
                series.setdefault(labels, []).append((at, value))
            for labels in before - row.keys():
                series[labels].append((at, STALE))
            before = set(row)
    return list(series.items())


def _is_gauge(name: str) -> bool:
    return name in ("noise", "wild", "up", "build_info", "vllm:num_requests_running")
