"""What a vLLM process counts, before it is a page."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


class Histogram:
    """Observations in buckets; `counts` has one place more than `bounds`, for what exceeds them all."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    @property
    def count(self) -> int:
        return sum(self.counts)


@dataclass
class Meter:
    """
    Counters and gauges by key, histograms by key.

    The key is what the table of families calls the source: `running`, or `success:stop` for one child of a family.
    `born` says, in Unix seconds, since when a key has been there that was not there from the start.
    """

    values: dict[str, float] = field(default_factory=dict)
    histograms: dict[str, Histogram] = field(default_factory=dict)
    born: dict[str, float] = field(default_factory=dict)

    @classmethod
    def with_histograms(cls, bounds: Mapping[str, Sequence[float]]) -> "Meter":
        return cls(histograms={key: Histogram(edges) for key, edges in bounds.items()})

    def add(self, key: str, amount: float = 1) -> None:
        self.values[key] = self.values.get(key, 0) + amount

    def used(self, key: str) -> bool:
        """Say whether anything was counted under `key` so far."""
        if key in self.histograms:
            return any(self.histograms[key].counts)
        return key in self.values

    def observe(self, key: str, value: float) -> None:
        """Observe a value, unless this version's page has no such histogram."""
        if key in self.histograms:
            self.histograms[key].observe(value)
