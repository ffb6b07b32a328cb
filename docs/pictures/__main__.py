"""Draws all pictures of the docs anew (`make pictures`)."""

import sys

from docs.pictures.browser import BrowserError, browser, picture
from docs.pictures.gallery import IMAGES, MANIFEST, manifest, pages
from docs.pictures.terminal import draw_terminal


def main() -> int:
    draw_terminal(IMAGES.parent / "demo.svg")
    try:
        browser()
        drawn = pages()
        for name, (width, html) in drawn.items():
            picture(html, width, IMAGES / f"{name}.png")
    except BrowserError as err:
        sys.stderr.write(f"{err}\n")
        return 1
    MANIFEST.write_text(manifest(drawn), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
