"""Where panels stand on a page."""

from typing import Any

from dashboards.preview.layout import bottom, opened, placed


def panel(title: str, x: int, y: int, w: int, h: int, **more: Any) -> dict[str, Any]:
    return {"title": title, "type": "stat", "gridPos": {"x": x, "y": y, "w": w, "h": h}, **more}


def row(title: str, y: int, *inner: dict[str, Any]) -> dict[str, Any]:
    return panel(title, 0, y, 24, 1, panels=list(inner)) | {"type": "row"}


GRID = [panel("left", 0, 0, 12, 4), panel("right", 12, 0, 12, 4), row("more", 4), panel("wide", 0, 5, 24, 8)]


def test_on_a_wide_screen_panels_stand_in_the_grid_and_do_not_touch() -> None:
    left, right, _, wide = placed(GRID, 1280)
    assert (left.x, left.y, left.height) == (16, 0, 4 * 38 - 8)
    assert right.x - (left.x + left.width) == 8
    assert right.x + right.width == wide.x + wide.width == 1280 - 16
    assert bottom([wide]) == 13 * 38 - 8


def test_on_a_telephone_they_stand_one_below_the_other() -> None:
    places = placed(GRID, 375)
    assert {place.width for place in places} == {375 - 32}
    assert [place.y for place in places] == [0, 152, 304, 342]
    assert bottom(places) == 342 + 8 * 38 - 8


def test_a_closed_row_is_opened_and_pushes_down_what_follows() -> None:
    closed = [row("first", 0, panel("hidden", 0, 1, 24, 6)), row("second", 1), panel("last", 0, 2, 24, 3)]
    shown = [(one["title"], one["gridPos"]["y"]) for one in opened(closed)]
    assert shown == [("first", 0), ("hidden", 1), ("second", 7), ("last", 8)]
