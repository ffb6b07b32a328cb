"""
Compensated sums, and means that do not overflow.

reference: Prometheus 3.5, promql/functions.go (kahanSumInc, funcAvgOverTime) and engine.go (aggregation): the order of
the operations is theirs, so that results agree to the last bit.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from math import isfinite, isinf


def add(value: float, total: float, lost: float) -> tuple[float, float]:
    """Add `value` to the running `total`, keeping in `lost` what rounding takes away."""
    new = total + value
    if isinf(new):
        return new, 0.0
    if abs(total) >= abs(value):
        return new, lost + ((total - new) + value)
    return new, lost + ((value - new) + total)


def compensated(values: Iterable[float], total: float = 0.0) -> tuple[float, float]:
    """Return the sum of `values` and what rounding took away from it."""
    lost = 0.0
    for value in values:
        new = total + value
        # Only infinity and NaN give something other than zero here.
        if new - new != 0.0 and isinf(new):
            lost = 0.0
        elif abs(total) >= abs(value):
            lost += (total - new) + value
        else:
            lost += (value - new) + total
        total = new
    return total, lost


def total(values: Sequence[float]) -> float:
    """Return the sum of at least one value."""
    summed, lost = compensated(islice(values, 1, None), values[0])
    return summed + lost


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    summed, lost = compensated(islice(values, 1, None), values[0])
    count = float(len(values))
    if isfinite(summed):
        return summed / count + lost / count
    return _careful_mean(values)


def _careful_mean(values: Sequence[float]) -> float:
    """Return the mean, going over to a running mean where the sum would overflow."""
    summed, lost, running = values[0], 0.0, False
    for count, value in enumerate(islice(values, 1, None), 2):
        if not running:
            new, new_lost = add(value, summed, lost)
            if not isinf(new):
                summed, lost = new, new_lost
                continue
            running = True
            summed /= count - 1
            lost /= count - 1
        kept = (count - 1) / count
        summed, lost = add(value / count, kept * summed, kept * lost)
    if running:
        return summed + lost
    return summed / len(values) + lost / len(values)
