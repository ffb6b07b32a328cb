"""Which time a report is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta, tzinfo

from monitor.model.instant import DAY, MINUTE, Duration, Instant, to_seconds

WEEK: Duration = 7 * DAY
# As long as the history is kept.
LONGEST: Duration = 35 * DAY
_EPOCH = datetime.fromtimestamp(0, UTC)


class PeriodError(ValueError):
    """The text is not a period; the message is for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Period:
    """The whole minutes from `start` to `end`."""

    start: Instant
    end: Instant

    @property
    def length(self) -> Duration:
        return self.end - self.start

    def parts(self, longest: Duration) -> Iterator["Period"]:
        """Yield the period in pieces no longer than `longest`."""
        for start in range(self.start, self.end, longest):
            yield Period(start, min(start + longest, self.end))


def whole_minutes(start: Instant, end: Instant) -> Period:
    """Return the whole minutes between two instants. Raises PeriodError."""
    begin, last = -(-start // MINUTE) * MINUTE, end // MINUTE * MINUTE
    if begin >= last:
        raise PeriodError("the period has no whole minute: its end must be after its beginning")
    if last - begin > LONGEST:
        raise PeriodError(f"the period is longer than {LONGEST // DAY} days")
    return Period(begin, last)


def week_before(now: Instant) -> Period:
    return whole_minutes(now - WEEK, now)


def instant_of(text: str, zone: tzinfo, before: datetime | None = None) -> Instant:
    """
    Return an instant given as `2026-11-01T10:00`, `2026-11-01` or seconds since 1970. Raises PeriodError.

    Without an offset it is of `zone`. Only `11:00` is of the day of `before`.
    """
    return (_moment(text, zone, before) - _EPOCH) // timedelta(milliseconds=1)


def instant_at(text: str) -> Instant:
    """Return the instant of an RFC 3339 text. Raises PeriodError."""
    return instant_of(text, UTC)


def period_of(text: str, zone: tzinfo) -> Period:
    """Return the period of `2026-11-01T10:00/11:00` or `2026-11-01T10:00/2026-11-02T11:00`. Raises PeriodError."""
    begin, slash, end = text.partition("/")
    if not slash:
        raise PeriodError(f"{text!r} is no period: write 2026-11-01T10:00/11:00")
    start = _moment(begin, zone)
    return whole_minutes(instant_of(begin, zone), instant_of(end, zone, start))


def shown(at: Instant, zone: tzinfo, form: str = "%a %Y-%m-%d %H:%M") -> str:
    return datetime.fromtimestamp(to_seconds(at), zone).strftime(form)


def _moment(text: str, zone: tzinfo, before: datetime | None = None) -> datetime:
    try:
        if text.isdecimal() and len(text) > len("20261101"):
            return _near(datetime.fromtimestamp(int(text), UTC))
        if before is not None and "-" not in text and ":" in text:
            text = f"{before:%Y-%m-%d}T{text}"
        found = _near(datetime.fromisoformat(text))
    except (ValueError, OverflowError, OSError) as err:
        raise PeriodError(f"{text!r} is no time: write 2026-11-01T10:00, or seconds since 1970") from err
    return found if found.tzinfo is not None else found.replace(tzinfo=zone)


def _near(moment: datetime) -> datetime:
    # In some zones the first and the last year of the calendar begin and end in years that it does not have.
    if not _EPOCH.year <= moment.year < MAXYEAR:
        raise ValueError(f"{moment.year}")
    return moment
