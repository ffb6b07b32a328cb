"""
The kinds of values that rules have, each found from how its default is written.

They stand in the text of a rule, so a text may hold nothing that could end the string, the template or the line
around it.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from monitor.model.instant import SECOND, UNITS, format_duration
from monitor.yamldoc import kinds
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.node import Scalar

SEVERITIES = ("critical", "warning", "info", "none")
_NUMBER = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,9})?")
_DURATION = re.compile(r"0|([0-9]+(ms|[ywdhms]))+")
_TEXT = re.compile(r"[A-Za-z0-9 _.,:;/@#%&=~|+*?()\[\]^$!<>-]*")
# They would begin something else in the line of YAML that they stand in.
_NO_LONGER_TEXT = re.compile(r": |:$| #")
_URL = re.compile(r"https?://[^ ]+")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_WORDS = {"y": "year", "w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond"}


class Span(int):
    """A duration, in milliseconds; as text it is what Prometheus reads."""

    __slots__ = ()

    def __str__(self) -> str:
        return format_duration(self)

    @property
    def total_seconds(self) -> int:
        return self // SECOND

    @property
    def words(self) -> str:
        """The duration as a sentence has it: `5 minutes`, `1 hour`, `90 seconds`."""
        for unit, size in UNITS:
            if self and self % size == 0:
                count = self // size
                return f"{count} {_WORDS[unit]}" + ("" if count == 1 else "s")
        return "0 seconds"


def kind_of(key: str, default: Scalar) -> Callable[[Any], Any]:
    """Return what reads the values of a setting, by the name of its key and how its default is written."""
    if key in _BY_KEY:
        return _BY_KEY[key]
    if default.plain and default.text in ("true", "false"):
        return kinds.boolean
    if default.plain and key.endswith("ratio"):
        return ratio
    if default.plain and _NUMBER.fullmatch(default.text):
        return number
    if default.plain and _DURATION.fullmatch(default.text):
        return span
    return text


def severity(value: Any) -> str:
    written = kinds.text(value)
    if written not in SEVERITIES:
        raise ValueError(f"{shown(written)} is not a severity (write {', '.join(SEVERITIES)})")
    return written


def pattern(value: Any) -> str:
    """Return a regular expression, which Prometheus can read."""
    return kinds.pattern(text(value))


def label(value: Any) -> str:
    written = kinds.text(value)
    if _LABEL.fullmatch(written) is None:
        raise ValueError(f"{shown(written)} is not the name of a label")
    return written


def name(value: Any) -> str:
    """Return what is in the value of a label, and part of no regular expression."""
    written = kinds.text(value)
    if written and _NAME.fullmatch(written) is None:
        raise ValueError(f"{shown(written)} is not a name (write letters, digits, _, . and -)")
    return written


def url(value: Any) -> str:
    written = text(value)
    if _URL.fullmatch(written) is None:
        raise ValueError(f"{shown(written)} is not a URL (write https://…)")
    return written


def number(value: Any) -> Decimal:
    """Return a number that is not negative, exactly as it is written."""
    if isinstance(value, Decimal):
        return value
    written = kinds.text(value)
    if not isinstance(value, Scalar) or not value.plain or _NUMBER.fullmatch(written) is None:
        raise ValueError(f"{shown(written)} is not a number (write 10 or 0.5)")
    return Decimal(written)


def ratio(value: Any) -> Decimal:
    found = number(value)
    if found > 1:
        raise ValueError(f"{found} is not a ratio (write 0.95 for 95 %)")
    return found


def span(value: Any) -> Span:
    return value if isinstance(value, Span) else Span(kinds.duration(value))


def text(value: Any) -> str:
    written = kinds.text(value)
    if _TEXT.fullmatch(written) is None:
        raise ValueError(f"{shown(written)} has a character that is not allowed in a rule")
    if _NO_LONGER_TEXT.search(written):
        raise ValueError(f'{shown(written)} has ": " or " #", with which YAML ends a text')
    return written


# What the name of a key says of its value.
_BY_KEY: dict[str, Callable[[Any], Any]] = {
    "severity": severity,
    "grafana_url": url,
    "runbooks_url": url,
    "job_regex": pattern,
    "http_handlers": pattern,
    "paths": pattern,
    "model_name": pattern,
    "name": name,
    "cache_settings": label,
}
