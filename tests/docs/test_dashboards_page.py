"""docs/dashboards.md: it lists every dashboard, and the panels that it speaks of are there."""

import re
from pathlib import Path

from tests.dashboards.queries import dashboards, panels

TEXT = (Path(__file__).parents[2] / "docs" / "dashboards.md").read_text()
PAGES = dashboards()


def test_every_dashboard_has_a_row_with_its_question() -> None:
    rows = re.findall(r"^\| (.+?) \(`(.+?)`\) \| (.+?) \| .+ \|$", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(
        (page["title"], page["uid"], page["description"].partition(" Reads recorded")[0]) for page in PAGES
    )


def test_every_panel_that_is_spoken_of_exists() -> None:
    text = re.sub(r"\s+", " ", TEXT.partition("## Beside the dashboards of vLLM")[2].partition("## Changing")[0])
    named = set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", text))
    assert len(named) > 60
    assert named <= {panel["title"] for page in PAGES for panel in panels(page)}
