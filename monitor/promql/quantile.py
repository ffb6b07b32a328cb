"""Quantiles of plain values."""

import math
from collections.abc import Sequence

from monitor.model.sample import format_exponent, format_value
from monitor.promql.lex import Position
from monitor.promql.run import Run


def quantile(q: float, values: Sequence[float]) -> float:
    """
    Return the q-quantile, linear between ranks; NaN sorts before everything.

    reference: Prometheus 3.5, promql/quantile.go quantile.
    """
    if not values or math.isnan(q):
        return math.nan
    if q < 0:
        return -math.inf
    if q > 1:
        return math.inf
    ordered = sorted([value for value in values if not math.isnan(value)])
    ordered[:0] = [math.nan] * (len(values) - len(ordered))
    rank = q * (len(ordered) - 1)
    lower = max(0, math.floor(rank))
    upper = min(len(ordered) - 1, lower + 1)
    weight = rank - math.floor(rank)
    return ordered[lower] * (1 - weight) + ordered[upper] * weight


def check_quantile(run: Run, q: float, position: Position) -> None:
    """Warn of a quantile that is not between 0 and 1."""
    if not 0 <= q <= 1:
        run.warn(f"quantile value should be between 0 and 1, got {shortest(q)}", position)


def shortest(value: float) -> str:
    """Return a float as Go's `%g` prints it."""
    if value and math.isfinite(value) and not 1e-4 <= abs(value) < 1e6:  # noqa: PLR2004 - the bounds of %g
        return format_exponent(value)
    return format_value(value)
