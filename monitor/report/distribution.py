"""The distribution of a whole period: how many values lay below each edge of a histogram."""

from collections.abc import Mapping
from math import inf, isfinite

# Counts of the values up to an edge (seconds, tokens), which is in it; the last edge is infinite.
Counts = Mapping[float, float]


def percentile(counts: Counts, ratio: float) -> float | None:
    """
    Return a percentile as `histogram_quantile` does, between two edges on a straight line; None of no values.

    Above the last finite edge nothing is known: there it is that edge.
    """
    total = counts.get(inf, 0.0)
    if not total > 0:
        return None
    wanted, low, below = ratio * total, 0.0, 0.0
    for edge, count in sorted(counts.items()):
        # Servers of different versions have different edges, so that a sum may fall.
        if count >= wanted and isfinite(edge):
            return low + (edge - low) * (wanted - below) / (count - below) if count > below else edge
        if isfinite(edge):
            low, below = edge, max(below, count)
    return low


def share_above(counts: Counts, limit: float) -> tuple[float, float] | None:
    """Return the least and the most that may lie above a limit, as ratios; alike where the limit is an edge."""
    total = counts.get(inf, 0.0)
    if not total > 0:
        return None
    up_to = max((count for edge, count in counts.items() if edge <= limit), default=0.0)
    beyond = min((count for edge, count in counts.items() if edge >= limit), default=total)
    return max(1 - beyond / total, 0.0), max(1 - up_to / total, 0.0)
