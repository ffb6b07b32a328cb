"""A chunk holds what was put into it, bit for bit, and says when it does not."""

import math
import struct
from array import array
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.sample import STALE
from monitor.storage.history.chunk import (
    DamagedChunkError,
    Samples,
    merged,
    packed,
    packed_row,
    unpacked,
    unpacked_row,
)
from tests.storage.history.keeping import bits

FLOATS = st.one_of(
    st.sampled_from((STALE, math.nan, math.inf, -math.inf, -0.0)),
    st.floats(allow_nan=False),
    st.integers(0, 2**64 - 1).map(lambda number: struct.unpack("<d", struct.pack("<Q", number))[0]),
)
STEPS = st.one_of(st.just(60_000), st.integers(1, 2**40))


@st.composite
def samples(draw: st.DrawFn) -> Samples:
    steps = draw(st.lists(STEPS, min_size=1, max_size=20))
    at, times = draw(st.integers(-(2**50), 2**50)), array("q")
    for step in steps:
        at += step
        times.append(at)
    return times, array("d", draw(st.lists(FLOATS, min_size=len(times), max_size=len(times))))


@given(samples())
def test_a_chunk_holds_its_samples(one: Samples) -> None:
    assert bits(*unpacked(packed(*one))) == bits(*one)


@given(st.dictionaries(st.integers(1, 2**32 - 1), samples(), max_size=4), st.integers(-(2**50), 2**50))
def test_a_row_holds_the_samples_of_all_its_series(many: dict[int, Samples], start: int) -> None:
    found = unpacked_row(packed_row(many, start), start)
    assert {number: bits(*one) for number, one in found.items()} == {n: bits(*one) for n, one in many.items()}
    for number in many:
        assert list(unpacked_row(packed_row(many, start), start, {number})) == [number]


@given(samples(), samples())
def test_of_two_samples_of_one_time_that_of_the_earlier_part_stays(one: Samples, other: Samples) -> None:
    expected = dict(bits(*other)) | dict(bits(*one))
    assert bits(*merged([one, other])) == sorted(expected.items())


@given(samples(), st.data())
def test_of_a_chunk_that_lost_or_changed_a_byte_nothing_wrong_is_read(one: Samples, data: st.DataObject) -> None:
    chunk = bytearray(packed(*one))
    place = data.draw(st.integers(2, len(chunk) - 1))
    chunk[place] ^= data.draw(st.integers(1, 255))
    # A few bits of a stream mean nothing.
    with suppress(DamagedChunkError):
        assert bits(*unpacked(bytes(chunk))) == bits(*one)
    with pytest.raises(DamagedChunkError):
        unpacked(packed(*one)[:place])
    with pytest.raises(DamagedChunkError):
        unpacked_row(packed(*one), 0)
