"""Sample values: the two kinds of NaN, and the text forms of a float."""

import math
import struct
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

_FLOAT = struct.Struct("<d")
_BITS = struct.Struct("<Q")
# reference: Prometheus, model/value/value.go. Only these bits mean "the series ended here"; other NaNs are values.
_STALE_BITS = 0x7FF0000000000002
STALE: float = _FLOAT.unpack(_BITS.pack(_STALE_BITS))[0]


def is_stale(value: float) -> bool:
    """Say whether `value` is the staleness marker (an ordinary NaN is not)."""
    # `value != value` is false for all but NaN, and far cheaper than looking at the bits.
    return value != value and _FLOAT.pack(value) == _STALE_PACKED  # noqa: PLR0124


_STALE_PACKED = _BITS.pack(_STALE_BITS)


class MetricType(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    GAUGE_HISTOGRAM = "gaugehistogram"
    SUMMARY = "summary"
    INFO = "info"
    STATESET = "stateset"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of a metric family."""

    type: MetricType = MetricType.UNKNOWN
    help: str = ""
    unit: str = ""


def format_value(value: float) -> str:
    """
    Return a float as the Prometheus HTTP API writes it.

    reference: Prometheus, util/jsonutil/marshal.go: the shortest decimal, an exponent below 1e-6 and from 1e21 on.
    """
    special = _special(value)
    if special:
        return special
    size = abs(value)
    if size and (size < 1e-6 or size >= 1e21):  # noqa: PLR2004 - the two bounds of the reference
        return format_exponent(value)
    text = repr(value)
    return (format(Decimal(text), "f") if "e" in text else text).removesuffix(".0")


def format_exponent(value: float) -> str:
    """Return the shortest form with an exponent of at least two digits, as Go's `%e` of shortest precision: `5e-07`."""
    special = _special(value)
    if special:
        return special
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    fraction = "".join(map(str, digits[1:]))
    size = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{digits[0]}{'.' + fraction if fraction else ''}e{size:+03d}"


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return ""
