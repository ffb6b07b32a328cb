"""When the KV cache will be full, by the highest usage of each week."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from monitor.model.instant import DAY, Instant
from monitor.report.period import WEEK

FEWEST_WEEKS = 4
_FEWEST_DAYS = 4
# A line that explains less of how the peaks differ is none.
_LEAST_FIT = 0.7
_LEAST_SLOPE = 0.002
_FULL = 0.999


class Trend(StrEnum):
    """What the weeks come to."""

    SHORT = "no trend: the history is short"
    SCATTERED = "no trend: the weekly peaks do not lie on a line"
    STEADY = "no growth"
    FULL = "the cache has been full"
    GROWING = "growing"


@dataclass(frozen=True, slots=True)
class Growth:
    """`peaks` are ratios, oldest week first; `slope` is a ratio a week, `days` until full, where it grows."""

    trend: Trend
    peaks: tuple[float, ...] = ()
    slope: float | None = None
    days: float | None = None


def growth_of(daily: Mapping[Instant, float], end: Instant) -> Growth:
    """Return the growth by daily peaks, each at the end of its day; weeks count back from `end`."""
    weeks: dict[int, list[float]] = {}
    for at, peak in daily.items():
        weeks.setdefault((end - at) // DAY // (WEEK // DAY), []).append(peak)
    peaks = tuple(max(weeks[age]) for age in sorted(weeks, reverse=True) if len(weeks[age]) >= _FEWEST_DAYS)
    if peaks and peaks[-1] >= _FULL:
        return Growth(Trend.FULL, peaks)
    if len(peaks) < FEWEST_WEEKS:
        return Growth(Trend.SHORT, peaks)
    slope, fit = line_through(peaks)
    if abs(slope) < _LEAST_SLOPE or (slope < 0 and fit >= _LEAST_FIT):
        return Growth(Trend.STEADY, peaks, slope)
    if fit < _LEAST_FIT:
        return Growth(Trend.SCATTERED, peaks)
    return Growth(Trend.GROWING, peaks, slope, max(1 - peaks[-1], 0.0) / slope * (WEEK // DAY))


def line_through(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the line of least squares, and how much of the spread it explains (R², 0 to 1)."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    across = sum((place - middle) ** 2 for place in range(len(values)))
    spread = sum((value - mean) ** 2 for value in values)
    both = sum((place - middle) * (value - mean) for place, value in enumerate(values))
    return both / across, (both * both / (across * spread) if spread else 1.0)
