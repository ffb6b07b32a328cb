"""Pictures made small, read back by an independent reader of what little of PNG they use."""

import struct
import zlib

import pytest

from docs.pictures.png import size, small

WHITE, BLACK, RED = b"\xff\xff\xff", b"\0\0\0", b"\xd7\x2b\x3f"
ROWS = [
    [WHITE, WHITE, RED, BLACK],
    [WHITE, RED, RED, BLACK],
    [BLACK, RED, WHITE, WHITE],
    [RED, RED, BLACK, WHITE],
    [RED, WHITE, BLACK, RED],
]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def filtered(kind: int, row: bytes, above: bytes, step: int) -> bytes:
    """Return a row as a writer of PNG filters it."""
    out = bytearray()
    for at, value in enumerate(row):
        left = row[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        guess = left + above[at] - corner
        paeth = min((left, above[at], corner), key=lambda one: abs(guess - one))
        out.append((value - (0, left, above[at], (left + above[at]) // 2, paeth)[kind]) % 256)
    return bytes([kind]) + bytes(out)


def screenshot(rows: list[list[bytes]], alpha: bytes) -> bytes:
    """Return a PNG with another filter in each row, and its data in two chunks."""
    plain = [b"".join(pixel + alpha for pixel in row) for row in rows]
    above = [bytes(len(plain[0])), *plain]
    step = 3 + len(alpha)
    data = zlib.compress(b"".join(filtered(n % 5, row, above[n], step) for n, row in enumerate(plain)))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 6 if alpha else 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", data[:7]), (b"IDAT", data[7:]), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def pixels(png: bytes) -> list[list[bytes]]:
    """Return the pixels of a picture with a palette and without filters."""
    width, height = size(png)
    palette_at = png.index(b"PLTE") + 4
    data_at = png.index(b"IDAT") + 4
    length = int.from_bytes(png[data_at - 8 : data_at - 4], "big")
    data = zlib.decompress(png[data_at : data_at + length])
    assert len(data) == height * (width + 1)
    lines = [data[at : at + width + 1] for at in range(0, len(data), width + 1)]
    assert {line[0] for line in lines} == {0}
    return [[png[palette_at + 3 * n : palette_at + 3 * n + 3] for n in line[1:]] for line in lines]


@pytest.mark.parametrize("alpha", [b"", b"\xff"], ids=["rgb", "rgba"])
def test_the_pixels_stay_what_they_are(alpha: bytes) -> None:
    assert pixels(small(screenshot(ROWS, alpha), 4, 5)) == ROWS


def test_what_is_beyond_the_page_is_cut_off() -> None:
    assert pixels(small(screenshot(ROWS, b""), 2, 3)) == [row[:2] for row in ROWS[:3]]


def test_of_too_many_colours_the_rare_ones_become_their_neighbours() -> None:
    greys = [[bytes([level] * 3) for level in range(256)] * 2, [WHITE] * 511 + [RED]]
    shown = pixels(small(screenshot(greys, b""), 512, 2))
    assert len({pixel for row in shown for pixel in row}) == 32
    assert shown[1] == greys[1]
    assert all(abs(seen[0] - level % 256) <= 8 for level, seen in enumerate(shown[0]))
