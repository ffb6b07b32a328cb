"""
Samples as remote write has them.

reference: the remote write 1.0 specification: a snappy block of the protobuf message WriteRequest.
    WriteRequest{timeseries = 1}  TimeSeries{labels = 1, samples = 2}  Label{name = 1, value = 2}
    Sample{value = 1 (double), timestamp = 2 (int64, ms)}
"""

import struct
from collections.abc import Iterable, Sequence

from monitor.model.instant import Instant
from monitor.model.labels import Labels

HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
_DOUBLE, _BYTES = 1, 2
# A field of the message: its number, and what kind of value follows.
_VALUE = bytes((1 << 3 | _DOUBLE,))
_TIMESTAMP = bytes((2 << 3,))
_LITERAL = 1 << 16
# Times are written as if they had no sign.
_UNSIGNED = 1 << 64

# Labels, times in milliseconds, and the values at them.
Series = tuple[Labels, Sequence[Instant], Sequence[float]]


def write_request(series: Iterable[Series]) -> bytes:
    """Return the body of a request; staleness markers arrive as they are."""
    return snappy(b"".join(_field(1, _series(*one)) for one in series))


def snappy(content: bytes) -> bytes:
    """
    Return `content` as a snappy block of literals: framed, and not compressed.

    Some tens of series a minute are not worth a library that every user would install.
    """
    parts = [_varint(len(content))]
    for at in range(0, len(content), _LITERAL):
        literal = content[at : at + _LITERAL]
        # Tag 61: a literal whose length less one follows in two bytes.
        parts.append(bytes((61 << 2,)) + struct.pack("<H", len(literal) - 1) + literal)
    return b"".join(parts)


def _series(labels: Labels, times: Sequence[Instant], values: Sequence[float]) -> bytes:
    named = b"".join(_field(1, _field(1, name.encode()) + _field(2, value.encode())) for name, value in labels)
    return named + b"".join(_field(2, _sample(at, value)) for at, value in zip(times, values, strict=True))


def _sample(at: Instant, value: float) -> bytes:
    return _VALUE + struct.pack("<d", value) + _TIMESTAMP + _varint(at % _UNSIGNED)


def _field(number: int, content: bytes) -> bytes:
    return bytes((number << 3 | _BYTES,)) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
