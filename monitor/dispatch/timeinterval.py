"""Times of the week, the month and the year at which routes are muted or active."""

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from monitor.model.instant import Instant, to_seconds


class Span(NamedTuple):
    """From `begin` to `end`, both included."""

    begin: int
    end: int

    def holds(self, number: int) -> bool:
        return self.begin <= number <= self.end


@dataclass(frozen=True, slots=True)
class TimeInterval:
    """
    The times at which every field that is given holds; within a field one span is enough.

    `times` are minutes of the day, the last one of a span included; `weekdays` count from Sunday, 0; `days_of_month`
    from 1, or from the end, -1. `zone` is None for the zone of the machine.
    reference: Alertmanager, timeinterval/timeinterval.go.
    """

    times: tuple[Span, ...] | None = None
    weekdays: tuple[Span, ...] | None = None
    days_of_month: tuple[Span, ...] | None = None
    months: tuple[Span, ...] | None = None
    years: tuple[Span, ...] | None = None
    zone: tzinfo | None = UTC

    def contains(self, now: Instant) -> bool:
        at = datetime.fromtimestamp(to_seconds(now), self.zone)
        return (
            _any(self.times, at.hour * 60 + at.minute)
            and _any(self.weekdays, at.isoweekday() % 7)
            and (self.days_of_month is None or any(_day_in(span, at) for span in self.days_of_month))
            and _any(self.months, at.month)
            and _any(self.years, at.year)
        )


def _any(spans: Sequence[Span] | None, number: int) -> bool:
    return spans is None or any(span.holds(number) for span in spans)


def _day_in(span: Span, at: datetime) -> bool:
    """Say whether the day is in the span; one that begins after the month's end never is in that month."""
    last = calendar.monthrange(at.year, at.month)[1]
    begin, end = (day if day > 0 else last + 1 + day for day in span)
    return begin <= at.day <= end
