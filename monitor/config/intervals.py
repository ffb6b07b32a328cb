"""Times at which routes are muted or active: `time_intervals` in Alertmanager's words."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import PlainValidator

from monitor.dispatch.timeinterval import Span, TimeInterval
from monitor.yamldoc.kinds import Text, text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.section import Section

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])|24:00")
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_LONGEST_MONTH = 31
_SHORTEST_MONTH = 28


def _weekday(word: str) -> int:
    if word not in WEEKDAYS:
        raise ValueError(f"{shown(word)} is not a day of the week (write monday, or monday:friday)")
    return WEEKDAYS.index(word)


def _month(word: str) -> int:
    number = int(word) if _NUMBER.fullmatch(word) else (*_MONTHS, word).index(word) + 1
    if not 1 <= number <= len(_MONTHS):
        raise ValueError(f"{shown(word)} is not a month (write march, or 3, or march:may)")
    return number


def _day(word: str) -> int:
    number = int(word) if _NUMBER.fullmatch(word) else 0
    if not 1 <= abs(number) <= _LONGEST_MONTH:
        raise ValueError(f"{shown(word)} is not a day of the month (1 to 31, or -1 to -31 from its end)")
    return number


def _year(word: str) -> int:
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"{shown(word)} is not a year")
    return int(word)


def _span(member: Callable[[str], int]) -> Callable[[Any], Span]:
    """Return what reads `a` or `a:b`, both included."""

    def read(value: Any) -> Span:
        if isinstance(value, Span):
            return value
        written = text(value).lower()
        parts = written.split(":")
        if len(parts) > len(Span._fields):
            raise ValueError(f"{shown(written)} is not a span (write begin:end)")
        return Span(member(parts[0]), member(parts[-1]))

    return read


def _rising(member: Callable[[str], int]) -> Callable[[Any], Span]:
    """Return what reads a span that does not end before it begins."""

    def read(value: Any) -> Span:
        span = _span(member)(value)
        if span.begin > span.end:
            raise ValueError(f"{shown(text(value))} ends before it begins (write two spans)")
        return span

    return read


def _days(value: Any) -> Span:
    """Return days of the month; whether they rise is sure only where it holds in every month."""
    span = _span(_day)(value)
    if span.begin < 0 < span.end:
        raise ValueError(f"{shown(text(value))}: the end must be negative when the begin is")
    begin, end = (day if day > 0 else _SHORTEST_MONTH + day for day in span)
    if begin > end:
        raise ValueError(f"{shown(text(value))} ends before it begins")
    return span


def _minute(value: Any) -> int:
    """Return the minute of the day."""
    if isinstance(value, int):
        return value
    written = text(value)
    if not _TIME.fullmatch(written):
        raise ValueError(f"{shown(written)} is not a time of day (write 08:00, at most 24:00)")
    hours, minutes = written.split(":")
    return int(hours) * 60 + int(minutes)


def _zone(value: Any) -> tzinfo | None:
    if value is None or isinstance(value, tzinfo):
        return value
    name = text(value)
    if name == "Local":
        return None
    try:
        return ZoneInfo(name) if name else UTC
    # A name that is a path out of the zones, or no file's name at all, is a ValueError or an OSError.
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise ValueError(f"{shown(name)} is not a time zone that is known here (write Europe/Berlin)") from err


MinuteOfDay = Annotated[int, PlainValidator(_minute)]
Weekdays = Annotated[Span, PlainValidator(_rising(_weekday))]
DaysOfMonth = Annotated[Span, PlainValidator(_days)]
Months = Annotated[Span, PlainValidator(_rising(_month))]
Years = Annotated[Span, PlainValidator(_rising(_year))]
Zone = Annotated[tzinfo | None, PlainValidator(_zone)]


class TimesSection(Section):
    """Part of a day; the end is not in it."""

    start_time: MinuteOfDay
    end_time: MinuteOfDay

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.start_time >= self.end_time:
            yield "end_time", "end_time must be later than start_time (write two for a night: until 24:00, from 00:00)"


class IntervalSection(Section):
    """Times at which all that is given holds; a field that is left out always does."""

    times: tuple[TimesSection, ...] | None = None
    weekdays: tuple[Weekdays, ...] | None = None
    days_of_month: tuple[DaysOfMonth, ...] | None = None
    months: tuple[Months, ...] | None = None
    years: tuple[Years, ...] | None = None
    location: Zone = UTC

    def built(self) -> TimeInterval:
        times = self.times
        return TimeInterval(
            None if times is None else tuple(Span(part.start_time, part.end_time - 1) for part in times),
            self.weekdays,
            self.days_of_month,
            self.months,
            self.years,
            self.location,
        )


class TimeIntervalsSection(Section):
    """A name that routes use, and the intervals of which one is enough."""

    name: Text
    time_intervals: tuple[IntervalSection, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.name:
            yield "name", '"name" must not be empty'
