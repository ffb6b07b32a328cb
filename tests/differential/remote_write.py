"""
Samples to a Prometheus by remote write, so that stale markers arrive as they are.

reference: the remote write 1.0 specification: a snappy block of the protobuf message WriteRequest.
    WriteRequest{timeseries = 1}  TimeSeries{labels = 1, samples = 2}  Label{name = 1, value = 2}
    Sample{value = 1 (double), timestamp = 2 (int64, ms)}
"""

import struct
import urllib.request
from collections.abc import Iterable, Sequence

from monitor.model.labels import Labels

_BYTES, _VARINT, _DOUBLE = 2, 0, 1
Series = tuple[Labels, Sequence[tuple[int, float]]]


def push(url: str, series: Iterable[Series]) -> None:
    """Write all samples of `series` to the receiver at `url`."""
    request = urllib.request.Request(  # noqa: S310 - a loopback address
        f"{url}/api/v1/write",
        data=snappy(b"".join(_field(1, _series(one)) for one in series)),
        headers={
            "Content-Encoding": "snappy",
            "Content-Type": "application/x-protobuf",
            "X-Prometheus-Remote-Write-Version": "0.1.0",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        answer.read()


def _series(series: Series) -> bytes:
    labels, samples = series
    named = b"".join(_field(1, _field(1, name.encode()) + _field(2, value.encode())) for name, value in labels)
    return named + b"".join(_field(2, _sample(at, value)) for at, value in samples)


def _sample(at: int, value: float) -> bytes:
    return _varint(1 << 3 | _DOUBLE) + struct.pack("<d", value) + _varint(2 << 3 | _VARINT) + _varint(at)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def snappy(content: bytes) -> bytes:
    """Return `content` as a snappy block of literals: framed, and not compressed."""
    parts = [_varint(len(content))]
    for at in range(0, len(content), 1 << 16):
        literal = content[at : at + (1 << 16)]
        # Tag 61: a literal whose length less one follows in two bytes.
        parts.append(bytes((61 << 2,)) + struct.pack("<H", len(literal) - 1) + literal)
    return b"".join(parts)
