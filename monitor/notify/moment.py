"""Instants and lengths of time as people read them."""

from datetime import UTC, datetime

from monitor.model.instant import DAY, MINUTE, SECOND, Duration, Instant, format_duration


def utc(at: Instant, *, seconds: bool = False) -> str:
    """Return `2026-11-30 06:05 UTC`."""
    form = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"
    return f"{datetime.fromtimestamp(at // SECOND, UTC):{form}} UTC"


def utc_briefly(at: Instant, now: Instant) -> str:
    """Return `06:05:00 UTC`, with the date where it is not that of `now`."""
    text = utc(at, seconds=True)
    return text if at // DAY != now // DAY else text.partition(" ")[2]


def lasted(duration: Duration) -> str:
    """Return a length of time as people say it: seconds only where they matter."""
    unit = MINUTE if duration >= 10 * MINUTE else SECOND
    return format_duration(duration - duration % unit)


def rfc3339(at: Instant) -> str:
    """Return `2026-11-30T06:05:00.25Z` as Go prints it: no more digits than it takes."""
    seconds, milliseconds = divmod(at, SECOND)
    fraction = f".{milliseconds:03d}".rstrip("0") if milliseconds else ""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"
