"""
Classic histograms: which series are the buckets of one, and what their counts say.

reference: Prometheus 3.5, promql/quantile.go BucketQuantile, ensureMonotonicAndIgnoreSmallDeltas; 3.14, BucketFraction.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import float_info

from monitor.model.labels import BUCKET, METRIC_NAME, Labels
from monitor.promql.vector import Series

# Differences this small between neighbours are noise of floating point.
_NOISE = 1e-12
_FLOAT = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Histogram:
    """
    The buckets of one histogram, by rising bound.

    `members[k]` are the indices of the series with the k-th bound `bounds[k]`: `le="1"` and `le="1.0"` are one bucket.
    """

    bounds: Sequence[float]
    members: Sequence[Sequence[int]]

    def counts(self, values: Sequence[float]) -> list[float]:
        """Return the count of each bucket."""
        return [values[some[0]] if len(some) == 1 else _sum(values[k] for k in some) for some in self.members]


@dataclass(frozen=True, slots=True)
class Histograms:
    """What a vector holds: the labels and buckets of each histogram, and the series that are no buckets."""

    labels: Series
    histograms: Sequence[Histogram]
    malformed: Sequence[Labels]


def histograms(series: Series) -> Histograms:
    """Group series by all their labels but `le`."""
    groups: dict[Labels, list[tuple[float, int]]] = {}
    malformed = []
    for index, labels in enumerate(series):
        bound = upper_bound(labels.value(BUCKET))
        if bound is None:
            malformed.append(labels)
        else:
            groups.setdefault(labels.without((BUCKET,)), []).append((bound, index))
    found = [_histogram(buckets) for buckets in groups.values()]
    return Histograms(tuple([labels.without((METRIC_NAME,)) for labels in groups]), found, malformed)


def upper_bound(text: str) -> float | None:
    """Return the bound of a bucket, or None when the label is missing or no number."""
    return float(text) if _FLOAT.fullmatch(text) else None


def _histogram(buckets: list[tuple[float, int]]) -> Histogram:
    members: dict[float, list[int]] = {}
    for bound, index in sorted(buckets, key=lambda bucket: bucket[0]):
        members.setdefault(bound, []).append(index)
    return Histogram(tuple(members), tuple(members.values()))


def _sum(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def rising(counts: list[float]) -> bool:
    """Correct the counts in place so that none is below the one before; say whether that was more than noise."""
    forced = False
    previous = counts[0]
    for index, count in enumerate(counts):
        if count == previous:
            continue
        if almost_equal(previous, count):
            counts[index] = previous
        elif count < previous:
            counts[index] = previous
            forced = True
        else:
            previous = count
    return forced


def almost_equal(one: float, other: float, tolerance: float = _NOISE) -> bool:
    """
    Say whether two floats differ by rounding only.

    reference: Prometheus 3.5, util/almost/almost.go Equal.
    """
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    size, difference = abs(one) + abs(other), abs(one - other)
    if one == 0 or other == 0 or size < float_info.min:
        return difference < tolerance * float_info.min
    return difference / min(size, float_info.max) < tolerance


def quantile(q: float, bounds: Sequence[float], counts: Sequence[float]) -> float:
    """Return the q-quantile (0 <= q <= 1) of rising counts, linear inside a bucket."""
    if len(bounds) < 2 or not counts[-1] or bounds[-1] != math.inf:  # noqa: PLR2004 - the infinite and a finite one
        return math.nan
    rank = q * counts[-1]
    last = len(bounds) - 1
    found = _first_at_least(rank, counts, last)
    if found == last:
        return bounds[last - 1]
    end, count, start = bounds[found], counts[found], 0.0
    if found == 0:
        if end <= 0:
            return end
    else:
        start = bounds[found - 1]
        count -= counts[found - 1]
        rank -= counts[found - 1]
    return start + (end - start) * (rank / count if count else math.nan)


def _first_at_least(rank: float, counts: Sequence[float], among: int) -> int:
    # A binary search as in the reference: with NaN among the counts it finds what that finds.
    low, high = 0, among
    while low < high:
        middle = (low + high) // 2
        if counts[middle] >= rank:
            high = middle
        else:
            low = middle + 1
    return low


def fraction(lower: float, upper: float, bounds: Sequence[float], counts: Sequence[float]) -> float:
    """Return the share of observations between `lower` and `upper`, linear inside a bucket."""
    total = counts[-1]
    if bounds[-1] != math.inf or total == 0 or math.isnan(lower) or math.isnan(upper):
        return math.nan
    if lower >= upper:
        return 0.0
    below, above = _rank(lower, bounds, counts), _rank(upper, bounds, counts)
    return (min(above, total) - min(below, total)) / total


def _rank(value: float, bounds: Sequence[float], counts: Sequence[float]) -> float:
    """Return how many observations are below `value`; the first bucket starts at zero, or has no start at all."""
    before, start = 0.0, 0.0 if bounds[0] > 0 else -math.inf
    for bound, count in zip(bounds, counts, strict=True):
        if start >= value:
            return before
        if bound > value:
            # Inside a bucket without a start nothing can be told: all of it counts as below.
            return count if start == -math.inf else before + (count - before) * (value - start) / (bound - start)
        before, start = count, bound
    return counts[-1]
