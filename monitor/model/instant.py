"""
Time, as a value.

Every instant in this program is an integer: milliseconds since the Unix epoch, as in Prometheus.
Every duration is an integer number of milliseconds too. Seconds appear only at the edges (sockets, JSON, text).
"""

import re

Instant = int
Duration = int

SECOND: Duration = 1_000
MINUTE: Duration = 60 * SECOND
HOUR: Duration = 60 * MINUTE
DAY: Duration = 24 * HOUR

# Largest first, each at most once: the order in which a duration must be written.
UNITS: tuple[tuple[str, Duration], ...] = (
    ("y", 365 * DAY),
    ("w", 7 * DAY),
    ("d", DAY),
    ("h", HOUR),
    ("m", MINUTE),
    ("s", SECOND),
    ("ms", 1),
)
_PARTS = re.compile("".join(rf"(?:([0-9]+){unit})?" for unit, _ in UNITS))
_LONGEST: Duration = (2**63 - 1) // 1_000_000


class DurationError(ValueError):
    """The text is not a duration."""


def parse_duration(text: str) -> Duration:
    """
    Return the milliseconds of a duration such as `5m`, `1h30m` or `0`.

    reference: Prometheus 3, model.ParseDuration. Raises DurationError.
    """
    if text == "0":
        return 0
    found = _PARTS.fullmatch(text)
    if not text or found is None:
        raise DurationError(f"{text!r} is not a duration (write 30s, 5m, 1h30m)")
    total = sum(int(count) * size for count, (_, size) in zip(found.groups(), UNITS, strict=True) if count)
    if total > _LONGEST:
        raise DurationError(f"{text!r} is too long a duration")
    return total


def format_duration(duration: Duration) -> str:
    """
    Return the text of a duration, as Prometheus writes it: 90000 is `1m30s`, 0 is `0s`.

    Weeks and years appear only where nothing else would, so that `10d` does not become `1w3d`.
    """
    if duration < 0:
        return "-" + format_duration(-duration)
    if duration == 0:
        return "0s"
    text, rest = "", duration
    for unit, size in UNITS:
        exact = unit in ("y", "w")
        if exact and rest % size:
            continue
        count, rest = divmod(rest, size)
        if count:
            text += f"{count}{unit}"
    return text


def to_seconds(milliseconds: Instant | Duration) -> float:
    return milliseconds / 1000


def from_seconds(seconds: float) -> Instant:
    return round(seconds * 1000)


def slot_at_or_before(now: Instant, interval: Duration) -> Instant:
    """Return the newest multiple of `interval` that is not after `now`."""
    return now - now % interval
