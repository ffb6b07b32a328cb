"""The body of an answer: unpacked, and never more of it than allowed."""

import zlib
from collections.abc import Iterable, Iterator

from monitor.scrape.errors import Reason, ScrapeError

_GZIP = 16 + zlib.MAX_WBITS


def unpack(chunks: Iterable[bytes], encoding: str, limit: int) -> bytes:
    """
    Return the body that comes in `chunks`, packed as Content-Encoding `encoding` says.

    `limit`: the most bytes it may have unpacked, 0 is no limit; nothing beyond it is ever unpacked. Raises ScrapeError.
    """
    match encoding.strip().lower():
        case "" | "identity":
            parts: Iterable[bytes] = chunks
        case "gzip" | "x-gzip":
            parts = _inflated(chunks, limit)
        case _:
            raise ScrapeError("an encoding that was not asked for (only gzip is read)", reason=Reason.ENCODING)
    body, size = [], 0
    for part in parts:
        size += len(part)
        if 0 < limit < size:
            raise ScrapeError(f"body exceeds body_size_limit of {limit} bytes", reason=Reason.BODY_TOO_LARGE)
        body.append(part)
    return b"".join(body)


def _inflated(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the unpacked parts; one may be a byte longer than `limit`, so that the excess shows."""
    # To zlib, too, 0 means no limit.
    most = limit + 1 if limit else 0
    member = zlib.decompressobj(_GZIP)
    begun = False
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                if member.eof:
                    member = zlib.decompressobj(_GZIP)
                begun = True
                yield member.decompress(rest, most)
                rest = member.unused_data
                if not member.eof and member.unconsumed_tail:
                    rest = member.unconsumed_tail
    except zlib.error as err:
        raise ScrapeError("the body is not gzip", reason=Reason.ENCODING) from err
    if begun and not member.eof:
        raise ScrapeError("the gzip body ends too early", reason=Reason.ENCODING)
