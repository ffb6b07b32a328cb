"""
The values that walk through a template, and Go's names for their types.

A Python str, bool, int and float stand for Go's string, bool, int and float64, None for a nil without a type,
`Labels` for a map[string]string and a dict for a map[string]any.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from monitor.model.labels import Labels
from monitor.template.errors import FunctionError
from monitor.template.times import DURATION_METHODS, METHODS, Duration, Time

Value = Any


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
    """Return `.name` of a value that is no method; raises FunctionError. A missing key of a map is "" or nil."""
    if receiver is None:
        return None
    if isinstance(receiver, Labels):
        return receiver.value(name)
    if isinstance(receiver, dict):
        return receiver.get(name)
    if isinstance(receiver, Record) and name in receiver.fields:
        return receiver.fields[name]
    if isinstance(receiver, QuerySample) and name in ("Labels", "Value"):
        return receiver.labels if name == "Labels" else receiver.value
    raise FunctionError(f"can't evaluate field {name} in type {type_name(receiver)}")


def method_of(receiver: Value, name: str) -> tuple[int, Callable[..., Value]] | None:
    """Return how many texts a method takes, and the function that is also given the receiver; None when it is none."""
    if isinstance(receiver, Time):
        return METHODS.get(name)
    return DURATION_METHODS.get(name) if isinstance(receiver, Duration) else None
