"""
Samples of one series as bytes, and back, bit for bit.

A chunk is a zlib stream, whose checksum tells a damaged one. In it stand a head (number of samples, first time,
step, how the values stand) and the values; where samples are not all a step apart, the differences of their times as
well. Values stand one after the other, or all first bytes, then all second bytes and so on, whichever becomes shorter:
the first for values that come again and again, the second for those that share a magnitude and nothing else. `make
bench` compares these with others (differences as Gorilla makes them, LZMA, text): none is shorter by a twentieth.
"""

import struct
import sys
import zlib
from array import array
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from monitor.model.instant import Instant

Samples = tuple["array[int]", "array[float]"]

_HEAD = struct.Struct("<Iqq?")
_COUNT = struct.Struct("<I")
_WIDTH = 8
# Times that are not a step apart.
_UNEVEN = -1
_LEVEL = 6


class DamagedChunkError(Exception):
    """The bytes are no chunk."""


def packed(times: "array[int]", values: "array[float]") -> bytes:
    """Return the chunk of at least one sample; `times` rise."""
    count = len(times)
    step = times[1] - times[0] if count > 1 else 0
    # The end first: of times that are far apart there may be more steps than memory.
    even = count == 1 or (
        times[-1] == times[0] + step * (count - 1) and times == array("q", range(times[0], times[-1] + 1, step))
    )
    apart = b""
    if not even:
        differences = array("q", [after - before for before, after in pairwise(times)])
        apart, step = _columns(_little(differences)), _UNEVEN
    plain = _little(values)
    bodies = ((False, plain), (True, _columns(plain)))
    return min(
        (zlib.compress(_HEAD.pack(count, times[0], step, turned) + apart + body, _LEVEL) for turned, body in bodies),
        key=len,
    )


def unpacked(chunk: bytes) -> Samples:
    """Return the times and values of a chunk. Raises DamagedChunkError."""
    try:
        data = zlib.decompress(chunk)
        count, first, step, turned = _HEAD.unpack_from(data)
    except (zlib.error, struct.error) as err:
        raise DamagedChunkError(str(err)) from err
    uneven = (count - 1) * _WIDTH if step == _UNEVEN else 0
    if not count or len(data) != _HEAD.size + uneven + count * _WIDTH:
        raise DamagedChunkError("the length is wrong")
    body = data[_HEAD.size + uneven :]
    values = _numbers("d", _rows(body) if turned else body)
    if step == _UNEVEN:
        times = array("q", accumulate(_numbers("q", _rows(data[_HEAD.size : _HEAD.size + uneven])), initial=first))
    else:
        times = array("q", range(first, first + count * step, step) if step else [first])
    return times, values


def merged(parts: Iterable[Samples]) -> Samples:
    """Return the samples of all parts in the order of time; where two have the same time, that of the earlier part."""
    some = [part for part in parts if part[0]]
    times, values = array("q"), array("d")
    for own_times, own_values in sorted(some, key=lambda part: part[0][0]):
        if times and own_times[0] <= times[-1]:
            return _sorted(some)
        times += own_times
        values += own_values
    return times, values


def packed_row(samples: Mapping[int, Samples], start: Instant) -> bytes:
    """Return the samples of many series as one piece, their times counted from `start`."""
    numbers = array("I", [number for number, (times, _) in samples.items() for _ in times])
    times = array("q", [at - start for own, _ in samples.values() for at in own])
    values = array("d")
    for _, own in samples.values():
        values += own
    return zlib.compress(b"".join([_COUNT.pack(len(times)), _little(numbers), _little(times), _little(values)]), _LEVEL)


def unpacked_row(body: bytes, start: Instant, wanted: Container[int] | None = None) -> dict[int, Samples]:
    """Return what `packed_row` was given, of the series that are wanted (None: all). Raises DamagedChunkError."""
    try:
        data = zlib.decompress(body)
        (count,) = _COUNT.unpack_from(data)
    except (zlib.error, struct.error) as err:
        raise DamagedChunkError(str(err)) from err
    first, second = _COUNT.size + count * _COUNT.size, _COUNT.size + count * (_COUNT.size + _WIDTH)
    if len(data) != second + count * _WIDTH:
        raise DamagedChunkError("the length is wrong")
    numbers = _numbers("I", data[_COUNT.size : first])
    times, values = _numbers("q", data[first:second]), _numbers("d", data[second:])
    found: dict[int, Samples] = {}
    for place, number in enumerate(numbers):
        if wanted is not None and number not in wanted:
            continue
        own_times, own_values = found.setdefault(number, (array("q"), array("d")))
        own_times.append(times[place] + start)
        own_values.append(values[place])
    return found


def _sorted(parts: Sequence[Samples]) -> Samples:
    # Positions and not values: a float that goes through a dictionary keeps its bits too, but need not.
    found: dict[Instant, tuple[int, int]] = {}
    for number, (times, _) in enumerate(parts):
        for place, at in enumerate(times):
            found.setdefault(at, (number, place))
    order = sorted(found)
    return array("q", order), array("d", [parts[found[at][0]][1][found[at][1]] for at in order])


def _columns(data: bytes) -> bytes:
    """Return all first bytes of the eight-byte numbers, then all second bytes and so on."""
    return b"".join([data[place::_WIDTH] for place in range(_WIDTH)])


def _rows(data: bytes) -> bytes:
    """Undo `_columns`."""
    rows = bytearray(len(data))
    count = len(data) // _WIDTH
    for place in range(_WIDTH):
        rows[place::_WIDTH] = data[place * count : (place + 1) * count]
    return bytes(rows)


def _little(numbers: "array[Any]") -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(kind: str, data: bytes) -> "array[Any]":
    numbers: array[Any] = array(kind)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
