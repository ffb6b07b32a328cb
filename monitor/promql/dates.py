"""
Parts of a date in UTC, of a time in seconds.

reference: Prometheus 3.5, promql/functions.go dateWrapper.
"""

import calendar
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_DAY = 86_400
# What `datetime` can tell is years 1 to 9999; the calendar repeats every 400 years.
_CYCLE_YEARS = 400
_CYCLE = 146_097 * _DAY
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = 2**63
# A float that is no int64 becomes the least one there. Go counts the seconds of a date from a year far before, modulo
# 2**64: what is before that year is after the last one.
_BEYOND = -(2**63)
_FIRST = -(292_277_022_399 + 1970) * 365.2425 * _DAY


def _moment(seconds: float) -> tuple[datetime, int]:
    """Return the date, and the years to add to it."""
    whole = int(seconds) if math.isfinite(seconds) and -_MOST <= seconds < _MOST else _BEYOND
    if whole < _FIRST:
        whole += 2**64
    cycles = whole // _CYCLE
    return _EPOCH + timedelta(seconds=whole - cycles * _CYCLE), cycles * _CYCLE_YEARS


def _part(part: Callable[[datetime], int]) -> Callable[[float], float]:
    return lambda seconds: float(part(_moment(seconds)[0]))


def _year(seconds: float) -> float:
    date, years = _moment(seconds)
    return float(date.year + years)


DATE_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "minute": _part(lambda date: date.minute),
    "hour": _part(lambda date: date.hour),
    "day_of_week": _part(lambda date: date.isoweekday() % 7),
    "day_of_month": _part(lambda date: date.day),
    "day_of_year": _part(lambda date: date.timetuple().tm_yday),
    "days_in_month": _part(lambda date: calendar.monthrange(date.year, date.month)[1]),
    "month": _part(lambda date: date.month),
    "year": _year,
}
