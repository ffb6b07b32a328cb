"""
Samples on disk, so that a file of months, one series behind the other, can be read a day at a time.

Series of one target have the same times: a list of times that has been written already is not written again.
"""

import mmap
import tempfile
import weakref
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from operator import lt

from monitor.backtest.source import Samples
from monitor.model.instant import Instant
from monitor.model.labels import Labels

_SIZE = 8
_SOME = 1000


@dataclass(frozen=True, slots=True)
class Piece:
    """Some samples of one series: where their times and values stand, and from when to when they are."""

    times: int
    values: int
    count: int
    first: Instant
    last: Instant


class Spool:
    """Takes samples, and gives back those of a stretch of time. The file is gone with it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this does
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._pieces: dict[Labels, list[Piece]] = {}
        self._times: dict[bytes, int] = {}
        self._map: mmap.mmap | None = None

    def add(self, labels: Labels, times: "array[int]", values: "array[float]") -> None:
        """Take samples of one series."""
        if not times:
            return
        raw = times.tobytes()
        digest = blake2b(raw, digest_size=16).digest()
        at = self._times.get(digest)
        if at is None:
            # A file may say them in any order.
            if not all(map(lt, times, times[1:])):
                ordered = _sorted(labels, times, values)
                self.add(labels, ordered.times, ordered.values)
                return
            at = self._times[digest] = self._write(raw)
        piece = Piece(at, self._write(values.tobytes()), len(times), times[0], times[-1])
        self._pieces.setdefault(labels, []).append(piece)

    @property
    def is_empty(self) -> bool:
        return not self._pieces

    def period(self) -> tuple[Instant, Instant]:
        """Return the times of the first and the last sample."""
        pieces = [piece for pieces in self._pieces.values() for piece in pieces]
        return min(piece.first for piece in pieces), max(piece.last for piece in pieces)

    def some_times(self) -> "array[int]":
        """Return the first times of the longest piece of a series."""
        longest = max((piece for pieces in self._pieces.values() for piece in pieces), key=lambda piece: piece.count)
        return array("q", self._whole()[longest.times : longest.times + min(longest.count, _SOME) * _SIZE].cast("q"))

    def read(self, after: Instant, until: Instant) -> Iterator[Samples]:
        """Yield the samples in `(after, until]`, series by series."""
        whole = self._whole()
        # The times of many series are the same object then, which is quickly seen.
        known: dict[int, tuple[int, int, array[int]]] = {}
        for labels, pieces in self._pieces.items():
            times, values = array("q"), array("d")
            ordered = True
            for piece in pieces:
                if piece.last <= after or piece.first > until:
                    continue
                cut = known.get(piece.times)
                if cut is None:
                    own = whole[piece.times : piece.times + piece.count * _SIZE].cast("q")
                    start, end = bisect_right(own, after), bisect_right(own, until)
                    cut = known[piece.times] = (start, end, array("q", own[start:end]))
                start, end, some = cut
                ordered = ordered and (not times or not some or times[-1] < some[0])
                values.frombytes(whole[piece.values + start * _SIZE : piece.values + end * _SIZE])
                times = times + some if times else some
            if times:
                yield Samples(labels, times, values) if ordered else _sorted(labels, times, values)

    def _whole(self) -> memoryview:
        if self._map is None:
            self._file.flush()
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return memoryview(self._map)

    def _write(self, raw: bytes) -> int:
        at = self._end
        self._file.write(raw)
        self._end += len(raw)
        return at


def _sorted(labels: Labels, times: Iterable[Instant], values: Iterable[float]) -> Samples:
    """Return the samples by rising time, of two of one time the first."""
    found: dict[Instant, float] = {}
    for at, value in zip(times, values, strict=True):
        found.setdefault(at, value)
    ordered = sorted(found)
    return Samples(labels, array("q", ordered), array("d", [found[at] for at in ordered]))
