"""Pictures of pages, by Debian's Chromium: a new profile each time, and nothing that it would fetch."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.pictures.png import small

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-lcd-text",
    # A page in a file may load scripts that are files.
    "--allow-file-access-from-files",
)
# Chromium makes no window narrower.
_NARROWEST = 500
_SECONDS = 240
# Tells the height that the page takes at the width of the window.
_RULER = '<script>document.body.dataset.height = document.querySelector("main").offsetHeight</script>'
_HEIGHT = re.compile(r'data-height="(\d+)"')


class BrowserError(Exception):
    """There is no browser, or it made no picture; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Finish:
    """
    How a picture is made: with how many pixels for each CSS pixel.

    `patience` is for pages that draw themselves: so many milliseconds pass for their timers, none of them waited for.
    """

    scale: float = 1.5
    patience: int = 0

    def flags(self) -> list[str]:
        waiting = [f"--virtual-time-budget={self.patience}"] if self.patience else []
        return [f"--force-device-scale-factor={self.scale}", *waiting]


def browser() -> str:
    """Return the path of Chromium; raises BrowserError."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise BrowserError("pictures are drawn by Chromium, which is missing: apt-get install chromium")
    return found


def laid_out(html: str, width: int, finish: Finish = Finish()) -> str:
    """Return a page, `width` CSS pixels wide, as it is when its scripts have run: as HTML. Raises BrowserError."""
    with TemporaryDirectory() as folder:
        return _laid_out(folder, _written(folder, html, width), width, finish)


def picture(html: str, width: int, path: Path, finish: Finish = Finish()) -> str:
    """Write the picture of a page to `path`, as PNG, and return what `laid_out` does. Raises BrowserError."""
    with TemporaryDirectory() as folder:
        file = _written(folder, html, width)
        page = _laid_out(folder, file, width, finish)
        told = _HEIGHT.search(page)
        if told is None:
            raise BrowserError("Chromium did not lay the page out")
        shot = Path(folder) / "page.png"
        _run(
            folder, f"--screenshot={shot}", f"--window-size={_window(width)},{told[1]}", *finish.flags(), file.as_uri()
        )
        if not shot.exists():
            raise BrowserError("Chromium drew nothing")
        size = (int(width * finish.scale), int(int(told[1]) * finish.scale))
        path.write_bytes(small(shot.read_bytes(), *size))
        return page


def _written(folder: str, html: str, width: int) -> Path:
    file = Path(folder) / "page.html"
    page = html.replace("<main>", f'<main style="width: {width}px">').replace("</body>", f"{_RULER}</body>")
    file.write_text(page, encoding="utf-8")
    return file


def _laid_out(folder: str, file: Path, width: int, finish: Finish) -> str:
    return _run(folder, "--dump-dom", f"--window-size={_window(width)},800", *finish.flags(), file.as_uri())


def _window(width: int) -> int:
    return max(width, _NARROWEST)


def _run(folder: str, *arguments: str) -> str:
    """Run the browser and return what it prints."""
    command = [browser(), *_FLAGS, f"--user-data-dir={folder}/profile", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - the browser, on a page of ours
            command, capture_output=True, timeout=_SECONDS, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError) as err:
        raise BrowserError(f"Chromium failed: {err}") from err
    return done.stdout
