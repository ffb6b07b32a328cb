"""Where the panels stand: Grafana's grid of 24 columns, or one column where the screen is narrow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# reference: Grafana, public/app/core/constants.ts (columns, height of a cell, margin) and its breakpoint "md".
COLUMNS, CELL, MARGIN, NARROW = 24, 30, 8, 769
EDGE = 16

Panel = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A panel and where it stands, in CSS pixels."""

    panel: Panel
    x: int
    y: int
    width: int
    height: int


def opened(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Yield the panels as they stand when every row is open."""
    pushed = 0
    for panel in sorted(panels, key=_place):
        yield _lower(panel, pushed)
        inner = panel.get("panels") or ()
        if panel["type"] == "row" and inner:
            yield from (_lower(one, pushed) for one in inner)
            pushed += max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in inner) - panel["gridPos"]["y"] - 1


def placed(panels: Sequence[Panel], width: int) -> list[Place]:
    """Return where the panels stand on a page that is so many pixels wide."""
    inner = width - 2 * EDGE
    if width < NARROW:
        return list(_stacked(panels, inner))
    return [_on_grid(panel, inner) for panel in panels]


def bottom(places: Sequence[Place]) -> int:
    """Return how high the page is below its heading."""
    return max((place.y + place.height for place in places), default=0)


def _on_grid(panel: Panel, width: int) -> Place:
    at = panel["gridPos"]
    column = (width + MARGIN) / COLUMNS
    return Place(
        panel,
        EDGE + round(at["x"] * column),
        at["y"] * (CELL + MARGIN),
        round(at["w"] * column) - MARGIN,
        at["h"] * (CELL + MARGIN) - MARGIN,
    )


def _stacked(panels: Sequence[Panel], width: int) -> Iterator[Place]:
    y = 0
    for panel in panels:
        height = panel["gridPos"]["h"] * (CELL + MARGIN) - MARGIN
        yield Place(panel, EDGE, y, width, height)
        y += height + MARGIN


def _place(panel: Panel) -> tuple[int, int]:
    return panel["gridPos"]["y"], panel["gridPos"]["x"]


def _lower(panel: Panel, by: int) -> Panel:
    at = panel["gridPos"]
    return {**panel, "gridPos": {**at, "y": at["y"] + by}}
