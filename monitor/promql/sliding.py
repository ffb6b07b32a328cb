"""
Functions over long ranges that slide along a series, where each range is the last one but for a few samples.

A sum of three days, once a minute, is two sums of everything so far and a subtraction. Sums are exact here and rounded
once, so that nothing is lost by it.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from math import floor, frexp, isfinite, isnan
from operator import ge, gt, le, ne

Spans = Sequence[tuple[int, int]]
Value = float | None
# Shorter ranges are quicker one by one.
_LONG = 12
# Every float is a whole multiple of 2 to the power of minus this.
_SCALE = 1074
_BITS = 53
_UNIT = 1 << _SCALE
_EXACT = 2.0**_BITS


def are_long(spans: Spans) -> bool:
    """Say whether it is worth it."""
    return sum([end - start for start, end in spans]) > _LONG * len(spans)


def counts(_: Sequence[float], spans: Spans) -> list[Value]:
    return [float(end - start) if start < end else None for start, end in spans]


def changes(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return how often the value changes in each range; None when there is a NaN, or infinities on both sides."""
    return None if isnan(sum(values)) else _between(values, spans, ne)


def resets(values: Sequence[float], spans: Spans) -> list[Value]:
    """Return how often the value falls in each range."""
    return _between(values, spans, gt)


def _between(values: Sequence[float], spans: Spans, differs: Callable[[float, float], bool]) -> list[Value]:
    """Return for how many neighbours in each range the first `differs` from the second."""
    so_far = list(accumulate(map(differs, values, islice(values, 1, None)), initial=0))
    return [float(so_far[end - 1] - so_far[start]) if start < end else None for start, end in spans]


def firsts(values: Sequence[float], spans: Spans) -> list[Value]:
    return [values[start] if start < end else None for start, end in spans]


def lasts(values: Sequence[float], spans: Spans) -> list[Value]:
    return [values[end - 1] if start < end else None for start, end in spans]


def whole_sums(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the sum of each range; None when not all values are whole numbers of a size that adds up exactly."""
    if not all(map(float.is_integer, values)) or max(map(abs, values), default=0.0) * len(values) > _EXACT:
        return None
    so_far = list(accumulate(values, initial=0.0))
    return [so_far[end] - so_far[start] if start < end else None for start, end in spans]


def whole_means(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the mean of each range; None as for their sums."""
    totals = whole_sums(values, spans)
    if totals is None:
        return None
    both = zip(totals, spans, strict=True)
    return [None if total is None else total / (end - start) for total, (start, end) in both]


def sums(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the sum of each range; None when there is anything infinite, or NaN."""
    so_far = _so_far(values)
    if so_far is None:
        return None
    return [(so_far[end] - so_far[start]) / _UNIT if start < end else None for start, end in spans]


def means(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the mean of each range; None when there is anything infinite, or NaN."""
    so_far = _so_far(values)
    if so_far is None:
        return None
    found: list[Value] = []
    for start, end in spans:
        if start == end:
            found.append(None)
            continue
        exact = so_far[end] - so_far[start]
        total = exact / _UNIT
        # As the plain mean does it: what rounding took away is divided by itself.
        lost = (exact - _whole(total)) / _UNIT
        found.append(total / (end - start) + lost / (end - start))
    return found


def _so_far(values: Sequence[float]) -> list[int] | None:
    """Return the exact sum of the values before each place, in units of the smallest float."""
    if not all(map(isfinite, values)):
        return None
    return list(accumulate(map(_whole, values), initial=0))


def _whole(value: float) -> int:
    if not value:
        return 0
    fraction, exponent = frexp(value)
    shift = exponent - _BITS + _SCALE
    whole = int(fraction * (1 << _BITS))
    # Of a subnormal number the lowest bits are zero.
    return whole << shift if shift >= 0 else whole >> -shift


def short_greatest(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the greatest of each range, for short ones; None when there is a NaN, or infinities on both sides."""
    if are_long(spans) or isnan(sum(values)):
        return None
    return [max(values[start:end]) if start < end else None for start, end in spans]


def short_least(values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the least of each range; None as for the greatest."""
    if are_long(spans) or isnan(sum(values)):
        return None
    return [min(values[start:end]) if start < end else None for start, end in spans]


def greatest(values: Sequence[float], spans: Spans) -> list[Value] | None:
    return _extremes(values, spans, ge)


def least(values: Sequence[float], spans: Spans) -> list[Value] | None:
    return _extremes(values, spans, le)


def _extremes(values: Sequence[float], spans: Spans, beats: Callable[[float, float], bool]) -> list[Value] | None:
    """Return the extreme of each range; None when there is a NaN."""
    if any(value != value for value in values):  # noqa: PLR0124 - NaN
        return None
    # The places that may yet be the extreme of a range: each beats all that are behind it.
    candidates: deque[int] = deque()
    seen = 0
    found: list[Value] = []
    for start, end in spans:
        for place in range(max(seen, start), end):
            while candidates and beats(values[place], values[candidates[-1]]):
                candidates.pop()
            candidates.append(place)
        seen = max(seen, end)
        while candidates and candidates[0] < start:
            candidates.popleft()
        found.append(values[candidates[0]] if start < end else None)
    return found


def quantiles(q: float, values: Sequence[float], spans: Spans) -> list[Value] | None:
    """Return the quantile (0 <= q <= 1) of each range; None when there is a NaN."""
    if not 0 <= q <= 1 or any(value != value for value in values):  # noqa: PLR0124 - NaN
        return None
    ordered: list[float] = []
    first = last = 0
    found: list[Value] = []
    for start, end in spans:
        if start >= last:
            ordered, first, last = [], start, start
        for value in values[last:end]:
            insort(ordered, value)
        for value in values[first:start]:
            del ordered[bisect_left(ordered, value)]
        first, last = start, max(last, end)
        found.append(_quantile(q, ordered) if start < end else None)
    return found


def _quantile(q: float, ordered: Sequence[float]) -> float:
    rank = q * (len(ordered) - 1)
    lower = floor(rank)
    upper = min(len(ordered) - 1, lower + 1)
    weight = rank - lower
    return ordered[lower] * (1 - weight) + ordered[upper] * weight
