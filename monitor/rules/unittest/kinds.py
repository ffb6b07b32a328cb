"""Kinds of values that only files of unit tests have. They are read as promtool's YAML 1.1 reads them."""

import re
from datetime import UTC, datetime
from math import inf, nan
from typing import Annotated, Any

from pydantic import PlainValidator

from monitor.model.instant import from_seconds
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.node import Scalar

_TRUE = frozenset(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE = frozenset(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_SPECIAL = {"inf": inf, "Inf": inf, "INF": inf, "nan": nan, "NaN": nan, "NAN": nan}
_BASES = (
    (re.compile("0[xX][0-9a-fA-F]+"), 16),
    (re.compile("0[bB][01]+"), 2),
    (re.compile("0[oO][0-7]+"), 8),
    (re.compile("0[0-7]+"), 8),
)
_DECIMAL = re.compile(r"(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LONGEST = 400


def boolean(value: Any) -> bool:
    """Return any of the words that YAML 1.1 has for a boolean."""
    if isinstance(value, bool):
        return value
    text = value.text if isinstance(value, Scalar) and value.plain else None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError("must be true or false")


def number(value: Any) -> float:
    """Return a number that is not in quotes: 1, 1e3, 0x1f, .inf."""
    if isinstance(value, float):
        return value
    found = _number(value.text) if isinstance(value, Scalar) and value.plain else None
    if found is None:
        text = shown(value.text) if isinstance(value, Scalar) else "this"
        raise ValueError(f"{text} is not a number (write 1, 1e3 or .inf, without quotes)")
    return found


def timestamp(value: Any) -> int:
    """Return milliseconds for Unix seconds or an RFC 3339 time."""
    if isinstance(value, int):
        return value
    text = value.text if isinstance(value, Scalar) else ""
    seconds = _number(text)
    if seconds is not None and abs(seconds) < inf:
        return from_seconds(seconds)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as err:
        raise ValueError(f"{shown(text)} is neither Unix seconds nor a time such as 2021-01-01T00:00:00Z") from err
    if moment.tzinfo is None:
        raise ValueError(f"{shown(text)} has no time zone (write 2021-01-01T00:00:00Z)")
    return round((moment - datetime.fromtimestamp(0, UTC)).total_seconds() * 1000)


def _number(text: str) -> float | None:
    plain = text.replace("_", "")[:_LONGEST]
    sign, size = (-1, plain[1:]) if plain.startswith("-") else (1, plain.removeprefix("+"))
    if size.startswith(".") and size[1:] in _SPECIAL and (plain == size or size.lower() == ".inf"):
        return sign * _SPECIAL[size[1:]]
    for pattern, base in _BASES:
        if pattern.fullmatch(size):
            return sign * float(int(size, base))
    return sign * float(size) if _DECIMAL.fullmatch(size) else None


Boolean = Annotated[bool, PlainValidator(boolean)]
Number = Annotated[float, PlainValidator(number)]
Timestamp = Annotated[int, PlainValidator(timestamp)]
