"""Makes a screenshot small: cut to its page, and with a palette."""

from io import BytesIO

from PIL import Image

_COLOURS = 256


def small(png: bytes, width: int, height: int) -> bytes:
    """Return the upper left part of a picture, at most so many pixels, as PNG with few colours."""
    with Image.open(BytesIO(png)) as shot:
        page = shot.convert("RGB").crop((0, 0, min(width, shot.width), min(height, shot.height)))
    # Of the methods that there are, the one that leaves a plain background exactly as it is.
    few = page.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    written = BytesIO()
    few.save(written, "PNG", optimize=True)
    return written.getvalue()


def size(png: bytes) -> tuple[int, int]:
    """Return width and height in pixels."""
    with Image.open(BytesIO(png)) as picture:
        return picture.size
