"""A number that is not known exactly."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """Between `low` and `high`, most likely `likely`. A number that is known has all three alike."""

    low: float
    likely: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Range":
        return cls(value, value, value)

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    def plus(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def minus(self, other: "Range") -> "Range":
        return Range(self.low - other.high, self.likely - other.likely, self.high - other.low)

    def each(self, function: Callable[[float], float]) -> "Range":
        """Return the range of a function that never falls."""
        return Range(function(self.low), function(self.likely), function(self.high))
