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
    if found[1] == "*":
        return
    places = [_place(name, end, allowed) for end in found[1].split("-")]
    if places != sorted(places):
        raise ValueError(f"{shown(part)} ends before it begins")


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
