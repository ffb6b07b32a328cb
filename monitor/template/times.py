"""Go's time.Time and time.Duration, as far as a template can see them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

_SECOND = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


class Named(int):
    """A month or a day of the week: a number that is shown by its name."""

    name: str

    @classmethod
    def of(cls, number: int, name: str) -> "Named":
        named = cls(number)
        named.name = name
        return named

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Time:
    """An instant in nanoseconds since the Unix epoch, shown in UTC."""

    nanoseconds: int

    @property
    def moment(self) -> datetime:
        """The instant, cut to whole seconds."""
        return _EPOCH + timedelta(seconds=self.nanoseconds // _SECOND)

    @property
    def fraction(self) -> int:
        """The nanoseconds since that second."""
        return self.nanoseconds % _SECOND

    def __str__(self) -> str:
        return self.format("2006-01-02 15:04:05.999999999 -0700 MST")

    def format(self, layout: str) -> str:
        """Return the instant in the form of an example: Go writes `15:04` where others write %H:%M."""
        return _LAYOUT.sub(lambda found: _piece(self, found.group()), layout)


# Longest first. reference: Go, package time, Layout.
_PIECES: dict[str, Callable[[Time], str]] = {
    "January": lambda time: _MONTHS[time.moment.month - 1],
    "Monday": lambda time: _DAYS[time.moment.isoweekday() % 7],
    "Z07:00": lambda _: "Z",
    "-07:00": lambda _: "+00:00",
    "-0700": lambda _: "+0000",
    "Z0700": lambda _: "Z",
    "2006": lambda time: f"{time.moment.year:04d}",
    "MST": lambda _: "UTC",
    "Jan": lambda time: _MONTHS[time.moment.month - 1][:3],
    "Mon": lambda time: _DAYS[time.moment.isoweekday() % 7][:3],
    "-07": lambda _: "+00",
    "Z07": lambda _: "Z",
    "002": lambda time: f"{time.moment.timetuple().tm_yday:03d}",
    "__2": lambda time: f"{time.moment.timetuple().tm_yday:3d}",
    "01": lambda time: f"{time.moment.month:02d}",
    "02": lambda time: f"{time.moment.day:02d}",
    "03": lambda time: f"{(time.moment.hour - 1) % 12 + 1:02d}",
    "04": lambda time: f"{time.moment.minute:02d}",
    "05": lambda time: f"{time.moment.second:02d}",
    "06": lambda time: f"{time.moment.year % 100:02d}",
    "15": lambda time: f"{time.moment.hour:02d}",
    "_2": lambda time: f"{time.moment.day:2d}",
    "PM": lambda time: "AM" if time.moment.hour < 12 else "PM",  # noqa: PLR2004 - noon
    "pm": lambda time: "am" if time.moment.hour < 12 else "pm",  # noqa: PLR2004 - noon
    "1": lambda time: str(time.moment.month),
    "2": lambda time: str(time.moment.day),
    "3": lambda time: str((time.moment.hour - 1) % 12 + 1),
    "4": lambda time: str(time.moment.minute),
    "5": lambda time: str(time.moment.second),
}
_LAYOUT = re.compile(
    r"[.,](?:0+|9+)(?![0-9])|"
    + "|".join(
        # `Mon` and `Jan` are not seen in the middle of a longer word.
        re.escape(piece) + ("(?![a-z])" if piece in ("Mon", "Jan") else "")
        for piece in _PIECES
    )
)


def _piece(time: Time, piece: str) -> str:
    if piece[0] not in ".,":
        return _PIECES[piece](time)
    digits = f"{time.fraction:09d}"[: len(piece) - 1].ljust(len(piece) - 1, "0")
    if piece[1] == "9":
        digits = digits.rstrip("0")
    return piece[0] + digits if digits else ""


# The methods of a time: how many texts each takes, and what it gives.
METHODS: dict[str, tuple[int, Callable[..., Any]]] = {
    "Format": (1, Time.format),
    "Year": (0, lambda time: time.moment.year),
    "Month": (0, lambda time: Named.of(time.moment.month, _MONTHS[time.moment.month - 1])),
    "Day": (0, lambda time: time.moment.day),
    "Hour": (0, lambda time: time.moment.hour),
    "Minute": (0, lambda time: time.moment.minute),
    "Second": (0, lambda time: time.moment.second),
    "Nanosecond": (0, lambda time: time.fraction),
    "YearDay": (0, lambda time: time.moment.timetuple().tm_yday),
    "Weekday": (0, lambda time: Named.of(time.moment.isoweekday() % 7, _DAYS[time.moment.isoweekday() % 7])),
    "Unix": (0, lambda time: time.nanoseconds // _SECOND),
    "UnixMilli": (0, lambda time: time.nanoseconds // 1_000_000),
    "UnixNano": (0, lambda time: time.nanoseconds),
    "UTC": (0, lambda time: time),
    "String": (0, str),
}


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time in nanoseconds, written as Go does: `1h2m3.5s`."""

    nanoseconds: int

    def __str__(self) -> str:
        size = abs(self.nanoseconds)
        sign = "-" if self.nanoseconds < 0 else ""
        if size == 0:
            return "0s"
        for unit, length in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
            if size < length * 1000:
                return f"{sign}{_decimal(size, length)}{unit}"
        hours, rest = divmod(size, 3600 * _SECOND)
        minutes, rest = divmod(rest, 60 * _SECOND)
        text = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
        return f"{sign}{text}{_decimal(rest, _SECOND)}s"


DURATION_METHODS: dict[str, tuple[int, Callable[..., Any]]] = {
    "String": (0, str),
    "Seconds": (0, lambda duration: duration.nanoseconds / _SECOND),
    "Minutes": (0, lambda duration: duration.nanoseconds / (60 * _SECOND)),
    "Hours": (0, lambda duration: duration.nanoseconds / (3600 * _SECOND)),
    "Milliseconds": (0, lambda duration: duration.nanoseconds // 1_000_000),
}


def _decimal(size: int, unit: int) -> str:
    whole, rest = divmod(size, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else str(whole)
