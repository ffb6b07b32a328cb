"""Pictures made small: what is on them stays."""

from io import BytesIO

import pytest
from PIL import Image

from docs.pictures.png import size, small

WHITE, BLACK, RED = (255, 255, 255), (0, 0, 0), (215, 43, 63)
ROWS = [
    [WHITE, WHITE, RED, BLACK],
    [WHITE, RED, RED, BLACK],
    [BLACK, RED, WHITE, WHITE],
    [RED, RED, BLACK, WHITE],
    [RED, WHITE, BLACK, RED],
]

Pixel = tuple[int, int, int]


def screenshot(rows: list[list[Pixel]], mode: str = "RGB") -> bytes:
    picture = Image.new("RGB", (len(rows[0]), len(rows)))
    picture.putdata([pixel for row in rows for pixel in row])
    written = BytesIO()
    picture.convert(mode).save(written, "PNG")
    return written.getvalue()


def pixels(png: bytes) -> list[list[Pixel]]:
    with Image.open(BytesIO(png)) as picture:
        assert picture.mode == "P"
        flat, width = picture.convert("RGB").tobytes(), picture.width
    found = [(flat[at], flat[at + 1], flat[at + 2]) for at in range(0, len(flat), 3)]
    return [found[at : at + width] for at in range(0, len(found), width)]


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_the_pixels_stay_what_they_are(mode: str) -> None:
    assert pixels(small(screenshot(ROWS, mode), 4, 5)) == ROWS


def test_what_is_beyond_the_page_is_cut_off() -> None:
    cut = small(screenshot(ROWS), 2, 3)
    assert size(cut) == (2, 3)
    assert pixels(cut) == [row[:2] for row in ROWS[:3]]


def test_of_too_many_colours_the_rare_ones_become_their_neighbours_and_the_background_stays() -> None:
    shades = [[(level, level, blue) for level in range(256)] for blue in (0, 60)]
    shown = pixels(small(screenshot([*shades, *[[WHITE] * 255 + [RED]] * 4]), 256, 6))
    assert len({pixel for row in shown for pixel in row}) <= 256
    assert shown[5][0] == WHITE
    assert all(abs(seen[0] - level) <= 8 for row in shown[:2] for level, seen in enumerate(row))
