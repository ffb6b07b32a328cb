"""
Makes a screenshot small: cut to its page, and with a palette, which is all that text on white takes.

reference: PNG (ISO/IEC 15948). Reads what Chromium writes: eight bits a channel, not interlaced.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # of a pixel, by the colour type
_PALETTE_TYPE = 3
_MOST_COLOURS = 32
_SUB, _UP, _AVERAGE = 1, 2, 3  # filters of a row; 4 is Paeth's


def small(png: bytes, width: int, height: int) -> bytes:
    """Return the upper left part of a picture, at most so many pixels, as PNG with few colours."""
    rows = [[row[at : at + 3] for at in range(0, len(row), 3)][:width] for row in _rows(png)][:height]
    counts = Counter(pixel for row in rows for pixel in row)
    palette = _palette(counts)
    index = {colour: min(range(len(palette)), key=lambda n: _distance(colour, palette[n])) for colour in counts}
    lines = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, _PALETTE_TYPE, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def size(png: bytes) -> tuple[int, int]:
    """Return width and height in pixels."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def _palette(counts: Mapping[bytes, int]) -> list[bytes]:
    """
    Return the colours to keep: again and again the one that would suffer most.

    The commonest alone would all be greys of the text, and an orange sign would become a red one.
    """
    palette: list[bytes] = []
    lost = {colour: float("inf") for colour in counts}
    while len(palette) < _MOST_COLOURS and any(lost.values()):
        chosen = max(lost, key=lambda colour: (lost[colour] * counts[colour], counts[colour]))
        palette.append(chosen)
        lost = {colour: min(before, _distance(colour, chosen)) for colour, before in lost.items()}
    return palette


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12


def _rows(png: bytes) -> Iterator[bytes]:
    """Yield the rows from above, three bytes a pixel: nothing of a page is transparent."""
    parts = list(_chunks(png))
    header = dict(parts)[b"IHDR"]
    width, channels = int.from_bytes(header[:4], "big"), _CHANNELS[header[9]]
    data = zlib.decompress(b"".join(content for kind, content in parts if kind == b"IDAT"))
    stride = width * channels
    above = bytearray(stride)
    for start in range(0, len(data), stride + 1):
        above = _unfiltered(data[start], bytearray(data[start + 1 : start + 1 + stride]), above, channels)
        yield b"".join(above[at : at + 3] for at in range(0, stride, channels))


def _unfiltered(kind: int, row: bytearray, above: bytearray, channels: int) -> bytearray:
    if kind == _UP:
        return bytearray((a + b) & 0xFF for a, b in zip(row, above, strict=True))
    if kind:
        for at, value in enumerate(row):
            left = row[at - channels] if at >= channels else 0
            corner = above[at - channels] if at >= channels else 0
            row[at] = (value + _predicted(kind, left, above[at], corner)) & 0xFF
    return row


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == _SUB:
        return left
    if kind == _AVERAGE:
        return (left + up) // 2
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))
