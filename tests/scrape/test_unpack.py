"""The body: unpacked in whatever pieces it comes, and never beyond its limit."""

import gzip
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.unpack import unpack


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[k : k + size] for k in range(0, len(data), size)]


@given(members=st.lists(st.binary(max_size=300), min_size=1, max_size=3), size=st.integers(1, 50))
def test_gzip_may_come_in_any_pieces_and_members(members: list[bytes], size: int) -> None:
    packed = b"".join(map(gzip.compress, members))
    assert unpack(pieces(packed, size), "gzip", 0) == b"".join(members)


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_what_is_not_packed_stays_as_it_is(encoding: str) -> None:
    assert unpack([b"a", b"b"], encoding, 2) == b"ab"


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
@pytest.mark.parametrize(("limit", "fits"), [(0, True), (1000, True), (999, False), (1, False)])
def test_the_limit_is_of_the_unpacked_size(encoding: str, limit: int, fits: bool) -> None:  # noqa: FBT001 - a column
    packed = gzip.compress(b"x" * 1000, mtime=0)
    if fits:
        assert len(unpack([packed], encoding, limit)) == 1000
        return
    with pytest.raises(ScrapeError) as caught:
        unpack([packed], encoding, limit)
    assert caught.value.reason is Reason.BODY_TOO_LARGE


def test_a_bomb_takes_no_more_memory_than_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 100_000_000, mtime=0)
    tracemalloc.start()
    try:
        with pytest.raises(ScrapeError):
            unpack(pieces(bomb, 65536), "gzip", 1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.parametrize(
    "body", [b"plain text", gzip.compress(b"x" * 1000, mtime=0)[:-5], gzip.compress(b"x", mtime=0) + b"rubbish"]
)
def test_what_is_no_gzip_is_refused(body: bytes) -> None:
    with pytest.raises(ScrapeError) as caught:
        unpack([body], "gzip", 0)
    assert caught.value.reason is Reason.ENCODING


def test_an_encoding_that_was_not_asked_for_is_refused() -> None:
    with pytest.raises(ScrapeError) as caught:
        unpack([b""], "br", 0)
    assert caught.value.reason is Reason.ENCODING


def test_an_empty_body_is_empty() -> None:
    assert unpack([], "gzip", 10) == b""
