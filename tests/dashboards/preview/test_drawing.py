"""Pages in a real browser, drawn by Grafana's own components: what is seen, and what does not fit."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dashboards.check.words import LISTED, Words
from dashboards.preview.drawing import FINISH, Bundle, DrawingError, draw, facts, page
from dashboards.preview.sheet import Look, Sheet
from dashboards.preview.source import Period
from docs.pictures.browser import BrowserError, browser, laid_out
from docs.pictures.png import size

END = 1_700_000_000_000
PERIOD = Period(END - 600_000, END)
# As long as no legend of a narrow panel has room for.
LONG = "generation of a server whose name nobody has room for:8000"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    try:
        browser()
        yield Bundle.made(tmp_path_factory.mktemp("bundle"))
    except (BrowserError, DrawingError) as err:
        # 430 MB of packages for a tool of development: `make dashboards-check` installs them and comes here.
        pytest.skip(str(err))


def sheet(*panels: dict[str, Any], width: int = 1280) -> Sheet:
    """Return a page of panels side by side, 300 pixels wide and 240 high, each with the values 1, 2 and 3."""
    values = [[(END - ago) / 1000, str(value)] for value, ago in ((1, 600_000), (2, 300_000), (3, 0))]
    boxes = [
        {
            "x": 16 + 310 * number,
            "y": 0,
            "width": 300,
            "height": 240,
            "panel": {"title": panel["type"], "options": {}, "fieldConfig": {"defaults": {}, "overrides": []}, **panel},
            "answers": [
                {
                    "refId": "A",
                    "legend": panel.get("legend", "{{instance}}"),
                    "format": panel.get("format", "time_series"),
                    "kind": "matrix",
                    "result": [
                        {"metric": {"instance": "vllm-0:8000", "le": le}, "values": values}
                        for le in panel.get("edges", ["1"])
                    ],
                    "step": 300_000,
                }
            ],
            "error": panel.get("error", ""),
        }
        for number, panel in enumerate(panels)
    ]
    return Sheet("A page <of> ours", Look(width, data="data: made up"), PERIOD, ("Job: All",), 240, boxes)


LEGEND = {"showLegend": True, "displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"]}
TIMESERIES = {"type": "timeseries", "options": {"legend": LEGEND}}
STAT = {"type": "stat", "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "graphMode": "area"}}
BARS = {"type": "bargauge", "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "orientation": "horizontal"}}
HEAT = {"type": "heatmap", "format": "heatmap", "legend": "{{le}}", "edges": ["+Inf", "1"]}
LANES = {"type": "state-timeline"}
NARROW = {"defaults": {"unit": "s", "custom": {"width": 130}}, "overrides": []}
TWO_COLUMNS = {"id": "organize", "options": {"excludeByName": {"Time": True, "le": True}}}
TABLE = {"type": "table", "format": "table", "fieldConfig": NARROW, "transformations": [TWO_COLUMNS]}
HEADING = {"matcher": {"id": "byName", "options": "Value"}, "properties": [{"id": "displayName", "value": LONG}]}
WIDE = {"defaults": {"custom": {"width": 200}}, "overrides": []}


def test_panels_that_fit_are_drawn_and_nothing_is_said_of_them(bundle: Bundle, tmp_path: Path) -> None:
    good = sheet(TIMESERIES, STAT, BARS, TABLE, HEAT, LANES, width=1900)
    assert draw(good, bundle, tmp_path / "a.png") == []
    width, height = size((tmp_path / "a.png").read_bytes())
    assert (width, 300 < height < 360) == (1900, True)
    # As many are below 1 as there are at all: of two rows the upper one is empty.
    heights = _heights(tmp_path / "a.png", range(1256, 1556))
    assert heights
    assert max(heights) - min(heights) < 240 / 2


def _heights(path: Path, columns: range) -> list[int]:
    """Return how high the orange stands in some columns of a picture, in pixels from above."""
    with Image.open(path) as picture:
        shown = picture.convert("RGB")
        return [y for y in range(shown.height) for x in columns if _is_orange(shown.getpixel((x, y)))]


def _is_orange(pixel: Any) -> bool:
    red, green, blue = pixel
    return bool(red > 150 and blue < 130 and red > green + 40)


def test_numbers_are_those_that_were_answered_in_the_words_of_the_dashboard(bundle: Bundle) -> None:
    mapped = {"type": "value", "options": {"3": {"text": "many", "index": 0}}}
    shown = laid_out(
        page(
            sheet(
                {**TIMESERIES, "fieldConfig": {"defaults": {"unit": "s"}, "overrides": []}},
                {**STAT, "fieldConfig": {"defaults": {"unit": "percentunit"}, "overrides": []}},
                {**STAT, "fieldConfig": {"defaults": {"mappings": [mapped]}, "overrides": []}},
                {**TABLE, "transformations": [{"id": "reduce", "options": {"reducers": ["sum"]}}], "format": ""},
            ),
            bundle,
        ),
        1280,
        FINISH,
    )
    words = re.sub(r"<(?:script|style).*?</(?:script|style)>|<[^>]*>", "|", shown, flags=re.DOTALL)
    for word in ("vllm-0:8000", "Last *", "3 s", "300", "%", "many", "6 s"):
        assert re.search(rf"\|\s*{re.escape(word)}\s*\|", words), word


def test_text_that_does_not_fit_is_told_with_its_panel(bundle: Bundle, tmp_path: Path) -> None:
    bad = sheet(
        {**TIMESERIES, "legend": LONG},
        {**STAT, "title": f"{LONG} {LONG}"},
        {**LANES, "legend": LONG},
        {**TABLE, "title": "heading", "fieldConfig": {**NARROW, "overrides": [HEADING]}},
        {**TABLE, "title": "sideways", "fieldConfig": WIDE},
        width=1600,
    )
    found = draw(bad, bundle, tmp_path / "a.png")
    assert {(one.panel, one.text) for one in found} >= {
        ("timeseries", LONG),
        (f"{LONG} {LONG}", f"{LONG} {LONG}"[:80]),
        ("state-timeline", LONG),
        ("heading", LONG),
        ("sideways", ""),
    }
    assert all(re.search(r"\d px|too narrow", one.why) for one in found)


def test_what_is_not_drawn_says_so_on_its_panel(bundle: Bundle) -> None:
    nothing = sheet({"type": "alertlist"}, {"type": "stat", "error": "A: nobody knows"})
    shown = laid_out(page(nothing, bundle), 1280, FINISH)
    assert 'class="notice">The preview does not draw panels of type "alertlist".<' in shown
    assert 'class="notice">A: nobody knows<' in shown


def test_a_page_says_what_it_is(bundle: Bundle) -> None:
    text = page(sheet(STAT), bundle)
    assert f"rendered with @grafana/ui {bundle.version}, not a Grafana screenshot · data: made up" in text
    assert "2023-11-14 22:03 to 22:13 UTC · Job: All" in text
    assert "<title>A page &lt;of&gt; ours</title>" in text


def test_units_and_reducers_are_asked_of_grafana_itself(bundle: Bundle) -> None:
    assert Words(**facts(bundle)).as_json() == LISTED.read_text(encoding="utf-8")
