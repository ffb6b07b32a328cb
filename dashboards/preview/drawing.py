"""Draws a sheet with Grafana's own components, in Chromium, and finds out what did not fit."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from dashboards.preview.layout import NARROW
from dashboards.preview.sheet import Sheet
from dashboards.preview.source import Period
from docs.pictures.browser import Finish, laid_out, picture
from monitor.model.instant import Instant, to_seconds

PACKAGE = Path(__file__).parent / "page"
_BUNDLE = (
    "--bundle",
    "--minify",
    "--jsx=automatic",
    "--loader:.woff2=dataurl",
    "--loader:.woff=empty",
    "--loader:.ttf=empty",
    "--loader:.svg=dataurl",
    '--define:process.env.NODE_ENV="production"',
    "--define:global=window",
    "--log-level=error",
)
_STYLE = """
html, body { margin: 0; height: auto; overflow: visible; }
main { position: relative; box-sizing: border-box; }
header { padding: 12px 16px; }
.title { font-size: 18px; line-height: 24px; font-weight: 500; }
.chosen, footer { font-size: 12px; line-height: 18px; color: gray; overflow-wrap: anywhere; }
footer { padding: 8px 16px; }
#sheet { position: relative; }
.section { font-size: 16px; line-height: 30px; font-weight: 500; }
.notice { height: 100%; display: grid; place-items: center; text-align: center; color: gray; }
.text { overflow: auto; }
"""
# Virtual: Chromium lets it pass as soon as nothing is left to do.
_PATIENCE_MILLISECONDS = 10_000
FINISH = Finish(scale=1.0, patience=_PATIENCE_MILLISECONDS)
# What is as wide as a telephone is as sharp as one.
FINE = Finish(scale=2.0, patience=_PATIENCE_MILLISECONDS)
_OVERFLOWS = re.compile(r'data-overflows="([^"]*)"')
_FAILURE = re.compile(r'data-failure="([^"]*)"')


class DrawingError(Exception):
    """Nothing was drawn; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """Text that does not fit: in which panel, which, and where it is cut."""

    panel: str
    text: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.panel}: {json.dumps(self.text, ensure_ascii=False)} {self.why}"
            if self.text
            else f"{self.panel} {self.why}"
        )


@dataclass(frozen=True, slots=True)
class Bundle:
    """The scripts of `page/`, in a folder; `version` is that of @grafana/ui."""

    folder: Path
    version: str

    @classmethod
    def made(cls, folder: Path) -> Self:
        """Make the scripts. Raises DrawingError when what they need is not installed."""
        manifest = PACKAGE / "node_modules" / "@grafana" / "ui" / "package.json"
        if not manifest.exists() or shutil.which("node") is None:
            raise DrawingError("the preview takes Node.js and what package.json names: run .ci/dashboard-tools browser")
        command = [str(PACKAGE / "node_modules" / ".bin" / "esbuild"), "src/main.tsx", "src/facts.ts"]
        try:
            subprocess.run(  # noqa: S603 - the bundler, on sources of ours
                [*command, *_BUNDLE, f"--outdir={folder}"], cwd=PACKAGE, check=True, capture_output=True, text=True
            )
        except subprocess.CalledProcessError as err:
            raise DrawingError(f"the page cannot be bundled: {err.stderr}") from err
        return cls(folder, str(json.loads(manifest.read_text(encoding="utf-8"))["version"]))

    @property
    def label(self) -> str:
        return f"rendered with @grafana/ui {self.version}, not a Grafana screenshot"


def draw(sheet: Sheet, bundle: Bundle, path: Path) -> list[Overflow]:
    """Write the picture of a sheet to `path`; return what does not fit. Raises DrawingError, BrowserError."""
    drawn = picture(page(sheet, bundle), sheet.look.width, path, FINE if sheet.look.width < NARROW else FINISH)
    failed, found = _FAILURE.search(drawn), _OVERFLOWS.search(drawn)
    if failed is not None or found is None:
        raise DrawingError(f"{sheet.title}: {html.unescape(failed[1]) if failed else 'the page was not drawn in time'}")
    overflows: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    return [Overflow(one["panel"], one["text"], one["why"]) for one in overflows]


def page(sheet: Sheet, bundle: Bundle) -> str:
    """Return the HTML of a sheet, which loads the scripts of `bundle`."""
    folder, title = bundle.folder.as_uri(), html.escape(sheet.title)
    chosen = " · ".join((_span(sheet.period), *sheet.chosen))
    note = " · ".join(filter(None, (bundle.label, sheet.look.data)))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<link rel="stylesheet" href="{folder}/main.css"><style>{_STYLE}</style></head>\n<body>'
        f'<main><header><div class="title">{title}</div><div class="chosen">{html.escape(chosen)}</div></header>'
        f'<div id="sheet" style="height: {sheet.height}px"></div><footer>{html.escape(note)}</footer></main>'
        f'<script>window.SHEET = {sheet.as_json()}</script><script src="{folder}/main.js"></script></body></html>\n'
    )


def facts(bundle: Bundle) -> dict[str, list[str]]:
    """Return the ids of the units and reducers that Grafana has, as `units` and `reducers`."""
    source = f'<main></main><script src="{bundle.folder.as_uri()}/facts.js"></script>'
    found = re.search(r'data-facts="([^"]*)"', laid_out(f"<!doctype html><body>{source}</body>", 500))
    if found is None:
        raise DrawingError("Grafana's units could not be listed")
    listed: dict[str, list[str]] = json.loads(html.unescape(found[1]))
    return listed


def _span(period: Period) -> str:
    """Return from when to when, in UTC; the day once where it is one."""
    start, end = _moment(period.start), _moment(period.end)
    return f"{start} to {end[11:] if start[:10] == end[:10] else end} UTC"


def _moment(at: Instant) -> str:
    return datetime.fromtimestamp(to_seconds(at), UTC).strftime("%Y-%m-%d %H:%M")
