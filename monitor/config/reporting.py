"""When a report is posted, and where: `report`, a word of our own."""

import re
from collections.abc import Iterator
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import PlainValidator

from monitor.yamldoc.kinds import Count, Text, text
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.section import Section

_FIELDS = ("minute", "hour", "day", "month", "weekday")
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12))
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# The most that each month ever has.
_DAYS_OF = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(\*|\w+(?:-\w+)?)(?:/([1-9][0-9]?))?", re.ASCII)


def cron(value: Any) -> str:
    """Return five fields of cron, `0 9 * * mon`, in small letters."""
    written = text(value).lower()
    fields = written.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f'{shown(written)} is no schedule: write minute, hour, day, month and weekday, "0 9 * * mon"')
    for name, field, allowed in zip(_FIELDS, fields, (*_RANGES, None), strict=True):
        for part in field.split(","):
            _check(name, part, allowed)
    if not any(
        day <= _DAYS_OF[month - 1]
        for month in _values(fields[3], *_RANGES[3])
        for day in _values(fields[2], *_RANGES[2])
    ):
        raise ValueError(f"{shown(written)} never comes: no month of it has such a day")
    return " ".join(fields)


def zone(value: Any) -> str:
    """Return the name of a time zone."""
    written = text(value)
    try:
        ZoneInfo(written)
    except (ZoneInfoNotFoundError, ValueError, OSError) as err:
        raise ValueError(f"{shown(written)} is no time zone (write Europe/Berlin)") from err
    return written


def _check(name: str, part: str, allowed: tuple[int, int] | None) -> None:
    found = _PART.fullmatch(part)
    if found is None:
        raise ValueError(f"{shown(part)} is no {name}")
    low, high = allowed or (0, len(_DAYS) - 1)
    places = [low, high] if found[1] == "*" else [_place(name, end, allowed) for end in found[1].split("-")]
    if places != sorted(places):
        raise ValueError(f"{shown(part)} ends before it begins")
    if not found[2]:
        return
    if allowed is None and found[1] != "*":
        raise ValueError(f"{shown(part)} is no {name}: a step goes with * alone")
    last = places[-1] if len(places) > 1 else high
    if int(found[2]) > last - places[0]:
        raise ValueError(f"{shown(part)}: a step of {found[2]} leads beyond {last}")


def _values(field: str, low: int, high: int) -> Iterator[int]:
    """Yield the numbers of a field that has been checked."""
    for part in field.split(","):
        ends, _, step = part.partition("/")
        first, dash, last = ends.partition("-")
        if ends == "*":
            first, dash, last = str(low), "-", str(high)
        end = int(last) if dash else high if step else int(first)
        yield from range(int(first), end + 1, int(step or 1))


def _place(name: str, end: str, allowed: tuple[int, int] | None) -> int:
    if allowed is None:
        if end not in _DAYS:
            # Of a number nobody knows with which day it begins: programs differ.
            raise ValueError(f"{shown(end)} is no {name}: write mon, tue, wed, thu, fri, sat or sun")
        return _DAYS.index(end)
    if not end.isdecimal() or not allowed[0] <= int(end) <= allowed[1]:
        raise ValueError(f"{shown(end)} is no {name}: {allowed[0]} to {allowed[1]}")
    return int(end)


class ReportConfig(Section):
    """A report of the seven days before, at each time of `schedule` in `timezone`, to the Slack of `receiver`."""

    schedule: Annotated[str, PlainValidator(cron)] = ""
    receiver: Text = ""
    timezone: Annotated[str, PlainValidator(zone)] = "UTC"
    input_limit: Count = 15_000

    def problems(self) -> Iterator[tuple[str, str]]:
        if not self.schedule:
            yield "schedule", '"schedule" must be set: "0 9 * * mon"'
        if not self.input_limit:
            yield "input_limit", "input_limit must be above zero"
