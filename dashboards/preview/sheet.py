"""A dashboard as a page: laid out, and its queries answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboards.preview.asking import Answer, Asking
from dashboards.preview.layout import Place, bottom, opened, placed
from dashboards.preview.source import Period
from dashboards.preview.variables import Variables


@dataclass(frozen=True, slots=True)
class Look:
    """How wide a page is (CSS pixels), how many panels it has, its colours, and where it says the data is from."""

    width: int = 1280
    panels: int | None = None
    theme: str = "dark"
    data: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """
    What stands on a page, `height` CSS pixels high.

    `empty` are the titles of panels that nothing was found for; `failed` those with a query that failed, and why.
    """

    title: str
    look: Look
    period: Period
    # What the variables are set to, for people.
    chosen: tuple[str, ...]
    height: int
    boxes: list[dict[str, Any]] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        """Return what `page/src/question.ts` calls a Sheet, fit to stand inside of a script."""
        told = {
            "theme": self.look.theme,
            "from": self.period.start,
            "to": self.period.end,
            "boxes": self.boxes,
        }
        return json.dumps(told).replace("</", "<\\/")


def sheet(dashboard: Mapping[str, Any], asking: Asking, variables: Variables, look: Look) -> Sheet:
    """Ask all that a dashboard asks. A query without an answer is told on its panel."""
    places = placed(list(opened(dashboard["panels"]))[: look.panels], look.width)
    page = Sheet(str(dashboard["title"]), look, asking.period, tuple(variables.said()), bottom(places))
    for place in places:
        answers, error = asking.panel(place.panel, variables, place.width)
        title = variables.shown(str(place.panel.get("title", "")))
        page.boxes.append(_box(place, title, answers, error))
        if error:
            page.failed.append(f"{title}: {error}")
        elif answers and not any(_shows(series) for answer in answers for series in answer["result"]):
            page.empty.append(title)
    return page


def _box(place: Place, title: str, answers: list[Answer], error: str) -> dict[str, Any]:
    where = {"x": place.x, "y": place.y, "width": place.width, "height": place.height}
    return {**where, "panel": {**place.panel, "title": title}, "answers": answers, "error": error}


def _shows(series: Mapping[str, Any]) -> bool:
    """Return whether a series has anything to show: a large number says by NaN that there is none."""
    return any(value != "NaN" for _, value in series["values"])
