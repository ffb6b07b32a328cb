"""
The kinds of values that settings have, for the fields of a Section.

Each is read from a Scalar by what the setting is, not by what YAML 1.1 would make of it (`on`, 010, 1:30, dates).
A value that is already of its kind is taken as it is, so that sections can be written in Python too.
"""

import re
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, PlainValidator
from pydantic_core import CoreSchema, core_schema

from monitor.model.instant import DurationError, parse_duration
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import MatchError, compile_anchored
from monitor.yamldoc.mistake import shown
from monitor.yamldoc.node import MappingNode, Scalar, SequenceNode

_INTEGER = re.compile("0|-?[1-9][0-9]{0,19}")
# What Prometheus holds in 64 bits without a sign, say a modulus.
_BEYOND = 2**64
_SIZE = re.compile("([0-9]{1,12})(B|KB|KiB|MB|MiB|GB|GiB)?")
_UNITS = {"B": 1, "KB": 2**10, "KiB": 2**10, "MB": 2**20, "MiB": 2**20, "GB": 2**30, "GiB": 2**30}
_LONGEST_NUMBER = 40


def _scalar(value: Any, wanted: str) -> Scalar:
    if isinstance(value, Scalar):
        return value
    got = {MappingNode: "a table", SequenceNode: "a list"}.get(type(value), repr(value))
    raise ValueError(f"must be {wanted}, not {got}")


def text(value: Any) -> str:
    """Return any scalar as it is written; null is the empty text."""
    if isinstance(value, str):
        return value
    scalar = _scalar(value, "a text")
    return "" if scalar.is_null else scalar.text


def duration(value: Any) -> int:
    """Return milliseconds."""
    if isinstance(value, int):
        return value
    written = _scalar(value, "a duration").text
    if len(written) > _LONGEST_NUMBER:
        raise ValueError(f"{shown(written)} is too long for a duration")
    try:
        return parse_duration(written)
    except DurationError as err:
        raise ValueError(f"{shown(written)} is not a duration (write 30s, 5m, 1h30m)") from err


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    scalar = _scalar(value, "true or false")
    if not scalar.plain or scalar.text not in ("true", "false"):
        raise ValueError(f"{shown(scalar.text)} is not a boolean (write true or false)")
    return scalar.text == "true"


def integer(value: Any) -> int:
    if isinstance(value, int):
        return value
    scalar = _scalar(value, "a whole number")
    if not scalar.plain or _INTEGER.fullmatch(scalar.text) is None or abs(int(scalar.text)) >= _BEYOND:
        raise ValueError(f"{shown(scalar.text)} is not a whole number")
    return int(scalar.text)


def count(value: Any) -> int:
    """Return a number that is not negative."""
    number = integer(value)
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number


def size(value: Any) -> int:
    """Return bytes; the units are powers of 1024 with and without the i, as in Prometheus."""
    if isinstance(value, int):
        return value
    written = _scalar(value, "a size").text
    found = _SIZE.fullmatch(written)
    if found is None or (found[2] is None and found[1] != "0"):
        raise ValueError(f"{shown(written)} is not a size (write 512KB, 64MB)")
    return int(found[1]) * _UNITS[found[2] or "B"]


def label_name(value: Any) -> str:
    """Return the name of a label: any text but the empty one and the metric name, as in Prometheus 3."""
    name = text(value)
    if name in ("", METRIC_NAME):
        raise ValueError(f"{shown(name)} is not allowed as the name of a label")
    return name


def pattern(value: Any) -> str:
    """Return a regular expression, which Prometheus can read."""
    written = text(value)
    try:
        compile_anchored(written)
    except MatchError as err:
        raise ValueError(str(err)) from err
    return written


Text = Annotated[str, PlainValidator(text)]
Duration = Annotated[int, PlainValidator(duration)]
Boolean = Annotated[bool, PlainValidator(boolean)]
Integer = Annotated[int, PlainValidator(integer)]
Count = Annotated[int, PlainValidator(count)]
Size = Annotated[int, PlainValidator(size)]
Pattern = Annotated[str, PlainValidator(pattern)]
LabelName = Annotated[str, PlainValidator(label_name)]


class _AsLabels:
    """Reads a table of texts into Labels; a wrong name is told with the place of that name."""

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        table = handler.generate_schema(dict[LabelName, Text])
        pairs = core_schema.no_info_after_validator_function(Labels.of, table)
        return core_schema.no_info_before_validator_function(_pairs, pairs)


def _pairs(value: Any) -> Any:
    return dict(value) if isinstance(value, Labels) else value


LabelSet = Annotated[Labels, _AsLabels()]
