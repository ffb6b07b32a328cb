"""
`vllm-monitor dashboards preview`, which is `python -m dashboards.preview`: the dashboards, drawn without Grafana.

Asks a daemon or a Prometheus what the panels ask, and draws them with Grafana's own components into one PNG file for
each dashboard. Ends with 1 when a query fails, or when text does not fit into its panel.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dashboards.preview.asking import Asking
from dashboards.preview.drawing import Bundle, DrawingError, draw
from dashboards.preview.sheet import Look, Sheet, sheet
from dashboards.preview.source import Period, Source, SourceError
from dashboards.preview.variables import Variables
from docs.pictures.browser import BrowserError, browser
from monitor.clock import SystemClock
from monitor.commands.ask import use, way_of
from monitor.commands.preview import HTTP_CONFIG
from monitor.commands.usage import UsageError
from monitor.model.instant import HOUR, Duration, DurationError, Instant, from_seconds, parse_duration
from monitor.shipped import shipped_dashboards

_URL = "http://127.0.0.1:9109"
_RELATIVE = re.compile(r"now-(\w+)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what the arguments name. Returns the exit code."""
    options = _parser().parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    good = True
    try:
        if HTTP_CONFIG in os.environ:
            use(way_of(Path(os.environ[HTTP_CONFIG])))
        browser()
        with tempfile.TemporaryDirectory(prefix="vllm-monitor-preview-") as folder:
            bundle = Bundle.made(Path(folder))
            for path in options.files or shipped_dashboards():
                good &= _drawn(path, options, bundle)
    except (BrowserError, DrawingError, SourceError, UsageError) as err:
        sys.stderr.write(f"{err}\n")
        return 1
    return 0 if good else 1


def _drawn(path: Path, options: argparse.Namespace, bundle: Bundle) -> bool:
    """Draw one dashboard and say what is wrong with it; return whether nothing is."""
    dashboard = _loaded(path)
    end = options.end if options.end is not None else SystemClock().now()
    period = Period(end - (options.range or _own_range(dashboard)), end)
    source = Source(options.url.rstrip("/"))
    variables = Variables.of(dashboard, source, period, _given(options.var))
    asking = Asking(source, period, options.scrape_interval)
    page = sheet(dashboard, asking, variables, Look(options.width, options.panels, options.theme, options.data))
    picture = options.out / f"{options.name or path.stem}{options.suffix}.png"
    overflows = draw(page, bundle, picture)
    sys.stdout.write(f"{picture}\n")
    for line in (*_remarks(page), *(f"does not fit: {one}" for one in overflows)):
        sys.stdout.write(f"  {line}\n")
    return not (overflows or page.failed)


def _loaded(path: Path) -> dict[str, Any]:
    try:
        dashboard = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise DrawingError(f"{path}: {err.strerror}") from err
    except ValueError as err:
        raise DrawingError(f"{path}: no JSON: {err}") from err
    if not isinstance(dashboard, dict) or not isinstance(dashboard.get("panels"), list):
        raise DrawingError(f"{path}: no dashboard in the classic form: it has no panels")
    return dashboard


def _remarks(page: Sheet) -> list[str]:
    return [f"failed: {one}" for one in page.failed] + [f"no data: {title}" for title in page.empty]


def _own_range(dashboard: dict[str, Any]) -> Duration:
    """Return how far a dashboard looks back by itself; an hour where it says so in another way than now-6h."""
    found = _RELATIVE.fullmatch(dashboard.get("time", {}).get("from", ""))
    return parse_duration(found[1]) if found else HOUR


def _given(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    return given


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vllm-monitor dashboards preview", description=__doc__)
    add = parser.add_argument
    add("files", nargs="*", type=Path, metavar="FILE", help="dashboards, as JSON; without any, all that are shipped")
    add("--url", default=_URL, help="a daemon or a Prometheus; %(default)s")
    add("--out", type=Path, default=Path(), metavar="FOLDER", help="where the pictures go; here")
    add("--name", default="", help="what a picture is called, where only one is drawn; as its file")
    add("--suffix", default="", help="what stands between that name and .png")
    add("--range", type=_duration, metavar="6h", help="how far to look back; as the dashboard says")
    add("--end", type=_instant, metavar="SECONDS", help="where the range ends, in seconds since 1970; now")
    add("--var", type=_pair, action="append", default=[], metavar="NAME=VALUE", help="a variable; may be repeated")
    add("--scrape-interval", type=_duration, default="15s", metavar="15s", help="of the data source; %(default)s")
    add("--width", type=int, default=1280, help="of the page, in CSS pixels: 375 is a telephone; %(default)s")
    add("--panels", type=int, metavar="N", help="draw only so many of its panels; all")
    add("--theme", choices=("dark", "light"), default="dark", help="%(default)s")
    add("--data", default="", metavar="TEXT", help="where the data comes from, for the line below the picture")
    return parser


def _duration(text: str) -> Duration:
    try:
        return parse_duration(text)
    except DurationError as err:
        raise argparse.ArgumentTypeError(str(err)) from err


def _instant(text: str) -> Instant:
    return from_seconds(float(text))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


if __name__ == "__main__":
    sys.exit(main())
