"""
The values that walk through a template, and Go's names for their types.

A Python str, bool, int and float stand for Go's string, bool, int and float64, None for a nil without a type,
`Labels` for a map[string]string and a dict for a map[string]any.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.model.labels import Labels
from monitor.template.errors import FunctionError

Value = Any
_NANOSECONDS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Record:
    """A struct: what the dot is at the start."""

    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class QuerySample:
    """One element of a query's result."""

    labels: Labels
    value: float


class QueryResult(tuple[QuerySample, ...]):
    """What `query` returns."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Time:
    """An instant in nanoseconds since the Unix epoch, shown in UTC."""

    nanoseconds: int

    @property
    def moment(self) -> datetime:
        """The instant, cut to whole microseconds."""
        return _EPOCH + timedelta(microseconds=self.nanoseconds // 1000)

    def __str__(self) -> str:
        seconds, nanoseconds = divmod(self.nanoseconds, _NANOSECONDS)
        fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
        return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC"


_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


# The methods of a time that need no argument. Months and days are shown by name, as Go's own types do.
METHODS: dict[str, Callable[[Time], Value]] = {
    "Year": lambda time: time.moment.year,
    "Month": lambda time: _MONTHS[time.moment.month - 1],
    "Day": lambda time: time.moment.day,
    "Hour": lambda time: time.moment.hour,
    "Minute": lambda time: time.moment.minute,
    "Second": lambda time: time.moment.second,
    "Nanosecond": lambda time: time.nanoseconds % _NANOSECONDS,
    "YearDay": lambda time: time.moment.timetuple().tm_yday,
    "Weekday": lambda time: _DAYS[time.moment.weekday()],
    "Unix": lambda time: time.nanoseconds // _NANOSECONDS,
    "UnixMilli": lambda time: time.nanoseconds // 1_000_000,
    "UnixNano": lambda time: time.nanoseconds,
    "UTC": lambda time: time,
    "String": str,
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
        hours, rest = divmod(size, 3600 * _NANOSECONDS)
        minutes, rest = divmod(rest, 60 * _NANOSECONDS)
        text = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
        return f"{sign}{text}{_decimal(rest, _NANOSECONDS)}s"


def _decimal(size: int, unit: int) -> str:
    whole, rest = divmod(size, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else str(whole)


_TYPES: tuple[tuple[type, str], ...] = (
    (str, "string"),
    (bool, "bool"),
    (int, "int"),
    (float, "float64"),
    (Labels, "map[string]string"),
    (dict, "map[string]interface {}"),
    (QueryResult, "template.queryResult"),
    (QuerySample, "*template.sample"),
    (Time, "*time.Time"),
    (Duration, "*time.Duration"),
    (type(None), "nil"),
)
_RECORD = (
    "struct { Labels map[string]string; ExternalLabels map[string]string; ExternalURL string; Value interface {} }"
)


def type_name(value: Value) -> str:
    """Return Go's name of the type of `value`."""
    return next((name for kind, name in _TYPES if isinstance(value, kind)), _RECORD)


def is_true(value: Value) -> bool:
    """Say whether `if` takes `value` for true: not empty, not zero, not nil."""
    if value is None:
        return False
    if isinstance(value, str | bool | int | float | dict | tuple):
        return bool(value)
    return True


def field_of(receiver: Value, name: str) -> Value:
    """Return `.name` of a value; raises FunctionError. A missing key of a map is "" or nil."""
    if receiver is None:
        return None
    if isinstance(receiver, Labels):
        return receiver.value(name)
    if isinstance(receiver, dict):
        return receiver.get(name)
    fields = _fields(receiver)
    if name not in fields:
        raise FunctionError(f"can't evaluate field {name} in type {type_name(receiver)}")
    found = fields[name]
    return found(receiver) if callable(found) else found


def _fields(receiver: Value) -> Mapping[str, Value]:
    """Return the fields of a struct and the methods of a time, by name."""
    if isinstance(receiver, Record):
        return receiver.fields
    if isinstance(receiver, QuerySample):
        return {"Labels": receiver.labels, "Value": receiver.value}
    if isinstance(receiver, Time):
        return METHODS
    if isinstance(receiver, Duration):
        return {"String": str(receiver), "Seconds": receiver.nanoseconds / _NANOSECONDS}
    return {}
