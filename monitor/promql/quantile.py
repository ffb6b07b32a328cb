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
    digits = repr(value)
    size = int(f"{value:.17e}".partition("e")[2])
    if value == 0 or -5 < size < 6:  # noqa: PLR2004 - the bounds of %g
        return digits.removesuffix(".0")
    if "e" in digits:
        head, _, tail = digits.partition("e")
        return f"{head}e{int(tail):+03d}"
    return _with_exponent(digits, size)


def _with_exponent(digits: str, size: int) -> str:
    sign = "-" if digits.startswith("-") else ""
    all_digits = digits.removeprefix("-").removesuffix(".0").replace(".", "").strip("0")
    fraction = f".{all_digits[1:]}" if len(all_digits) > 1 else ""
    return f"{sign}{all_digits[0]}{fraction}e{size:+03d}"
