"""Quantiles of plain values."""

import math
from collections.abc import Sequence

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
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    mantissa, exponent = f"{value:.17e}".split("e")
    del mantissa
    size = int(exponent)
    digits = repr(value)
    if value == 0 or -5 < size < 21:  # noqa: PLR2004 - the bounds of %g
        return digits.removesuffix(".0") if "e" not in digits else f"{value:.0f}"
    head, _, tail = digits.partition("e")
    return f"{head.removesuffix('.0')}e{int(tail or size):+03d}"
