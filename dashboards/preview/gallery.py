"""
`python -m dashboards.preview.gallery`, which is `make dashboards-preview`: the pictures of the docs.

A daemon lives through a recorded overload and is asked what the dashboards ask. Ends with 1 when text does not fit.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dashboards.preview.__main__ import main as preview
from monitor.model.instant import to_seconds
from monitor.shipped import shipped_dashboards
from tests.dashboards.played import END, played

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PREFIX = "dashboard-"
_DATA = "data: a recorded overload of vLLM 0.32.0 (vllm-0) beside simulated servers, read from the daemon; times in UTC"
# The incident where it is what the page is about; what is slower is shown for as long as there is something.
_RANGES = {"vllm-capacity": "3h", "vllm-slo": "3h", "vllm-fleet": "30m"}
_USUALLY = "12m"
# An engine is looked at by itself. What needs GPUs or connectors, which nobody here has, is left out.
_ONE = {"vllm-engine": ("--var", "instance=vllm-0:8000")}
_UNTIL = {"vllm-engine": "Speculative decoding", "vllm-capacity": "Blocks that travel"}
# The top of the overview as somebody sees it who was woken up.
_PHONE = ("--width", "375", "--panels", "6", "--suffix=-phone")


def main() -> int:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with played() as daemon:
        common = ["--url", daemon.url, "--end", str(to_seconds(END)), "--scrape-interval", "5s", "--data", _DATA]
        codes = [_drawn(path, [*common, *_options(path)]) for path in shipped_dashboards()]
        (overview,) = (path for path in shipped_dashboards() if path.stem == "vllm-overview")
        codes.append(_drawn(overview, [*common, "--range", _USUALLY, *_PHONE]))
    return max(codes)


def _options(path: Path) -> Iterator[str]:
    yield from ("--range", _RANGES.get(path.stem, _USUALLY), *_ONE.get(path.stem, ()))
    if path.stem in _UNTIL:
        titles = [panel["title"] for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]]
        yield from ("--panels", str(titles.index(_UNTIL[path.stem])))


def _drawn(path: Path, options: Sequence[str]) -> int:
    return preview([str(path), "--out", str(IMAGES), "--name", PREFIX + path.stem.removeprefix("vllm-"), *options])


if __name__ == "__main__":
    sys.exit(main())
