"""Pictures of series, dot by dot."""

import math

import pytest

from monitor.commands.plot import COLOURS, MOST_SERIES, Curve, Point, plot

STEP = 1_000


def curve(*values: float, name: str = "x") -> Curve:
    return Curve(name, [Point(row * STEP, value) for row, value in enumerate(values)])


def picture(*curves: Curve, width: int = 4, height: int = 2) -> list[str]:
    end = max(point.at for one in curves for point in one.points)
    lines = plot(curves, 0, end, STEP, (10 + width, height))
    return [line.plain[10:] for line in lines[:height]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param((0, 1, 2, 3, 4, 5, 6, 7), ["⠀⠀⡠⠊", "⡠⠊⠀⠀"], id="rising"),
        pytest.param((7, 6, 5, 4, 3, 2, 1, 0), ["⠑⢄⠀⠀", "⠀⠀⠑⢄"], id="falling"),
        pytest.param((0, 0, 7, 7), ["⠀⠀⡜⠉", "⣀⡜⠀⠀"], id="step"),
        pytest.param((0, math.nan, math.inf, 7), ["⠀⠀⠀⠈", "⡀⠀⠀⠀"], id="no-points-between"),
    ],
)
def test_points_are_joined_where_there_is_nothing_missing(values: tuple[float, ...], expected: list[str]) -> None:
    assert picture(curve(*values)) == expected


def test_points_more_than_a_step_apart_are_not_joined() -> None:
    gap = Curve("x", [Point(0, 0.0), Point(STEP, 0.0), Point(7 * STEP, 7.0)])
    assert picture(gap) == ["⠀⠀⠀⠈", "⣀⠀⠀⠀"]


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-300, 1e299])
def test_a_flat_line_is_in_the_middle(value: float) -> None:
    assert picture(curve(value, value, value), height=3) == ["⠀⠀⠀⠀", "⠒⠒⠒⠒", "⠀⠀⠀⠀"]


def test_nothing_to_draw_is_said() -> None:
    assert [line.plain for line in plot([curve(math.nan)], 0, STEP, STEP, (40, 5))] == ["no points to draw"]


def test_each_series_has_its_colour_and_too_many_are_counted() -> None:
    many = [curve(number, number + 1.0, name=f"s{number}") for number in range(MOST_SERIES + 3)]
    lines = plot(many, 0, STEP, STEP, (60, 5))
    assert lines[-1].plain == "3 more series are not drawn"
    legend = lines[6:-1]
    assert [line.plain for line in legend] == [f"━━ s{number}" for number in range(MOST_SERIES)]
    assert [str(line.spans[0].style) for line in legend[: len(COLOURS)]] == list(COLOURS)


def test_times_and_values_stand_beside_the_picture() -> None:
    start, end = 1_700_000_000_000, 1_700_090_000_000
    ends = Curve("x", [Point(start, 0.0), Point(end, 100.0)])
    lines = [line.plain for line in plot([ends], start, end, STEP, (60, 5))]
    assert [line[:10] for line in lines[:5]] == [
        "     100 ┤",
        "      75 ┤",
        "      50 ┤",
        "      25 ┤",
        "       0 ┤",
    ]
    assert lines[5].split() == ["2023-11-14", "22:13", "2023-11-15", "23:13", "UTC"]
