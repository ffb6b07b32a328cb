"""Pictures of pages, by Debian's Chromium: a new profile each time, and nothing that it would fetch."""

import re
import shutil
import subprocess
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
    "--force-device-scale-factor=1.5",
)
# As the flag has it.
_SCALE = 1.5
# Chromium makes no window narrower.
_NARROWEST = 500
_SECONDS = 60
# Tells the height that the page takes at the width of the window.
_RULER = '<script>document.body.dataset.height = document.querySelector("main").offsetHeight</script>'
_HEIGHT = re.compile(r'data-height="(\d+)"')


class BrowserError(Exception):
    """There is no browser, or it made no picture; the text says what to do."""


def browser() -> str:
    """Return the path of Chromium; raises BrowserError."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise BrowserError("pictures are drawn by Chromium, which is missing: apt-get install chromium")
    return found


def picture(html: str, width: int, path: Path) -> None:
    """Write the picture of a page that is `width` CSS pixels wide to `path`, as PNG; raises BrowserError."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        page = html.replace("<main>", f'<main style="width: {width}px">').replace("</body>", f"{_RULER}</body>")
        file.write_text(page, encoding="utf-8")
        window = max(width, _NARROWEST)
        told = _HEIGHT.search(_run(folder, "--dump-dom", f"--window-size={window},800", file.as_uri()))
        if told is None:
            raise BrowserError("Chromium did not lay the page out")
        shot = Path(folder) / "page.png"
        _run(folder, f"--screenshot={shot}", f"--window-size={window},{told[1]}", file.as_uri())
        if not shot.exists():
            raise BrowserError("Chromium drew nothing")
        path.write_bytes(small(shot.read_bytes(), int(width * _SCALE), int(int(told[1]) * _SCALE)))


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
