"""Noticing that somebody set the clock."""

from collections.abc import Sequence

import pytest

from monitor.clockwatch import ClockWatch


class Readings:
    """Gives out readings one after the other."""

    def __init__(self, readings: Sequence[int]) -> None:
        self._readings = list(readings)

    def __call__(self) -> int:
        return self._readings.pop(0)


def watched(*looks: tuple[int, int, int]) -> list[int]:
    """Each look reads the clock since the start, the wall clock, and the first one again."""
    wall = Readings([wall for _, wall, _ in looks])
    boot = Readings([reading for before, _, after in looks for reading in (before, after)])
    watch = ClockWatch(wall, boot)
    return [watch.stepped() for _ in looks[1:]]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param([(0, 1000, 0), (5000, 6000, 5000)], [0], id="time passes"),
        pytest.param([(0, 9000, 0), (1000, 5000, 1000)], [-5000], id="set back"),
        pytest.param([(0, 1000, 0), (1000, 62_000, 1000), (2000, 63_000, 2000)], [60_000, 0], id="set ahead, once"),
        pytest.param([(0, 0, 0), (1000, 1400, 1000), (2000, 2800, 2000), (3000, 4200, 3000)], [0, 0, 0], id="slewed"),
        pytest.param([(0, 0, 0), (9000, 9000, 9000)], [0], id="the machine slept: both clocks went on"),
        pytest.param([(0, 0, 0), (1000, 4000, 4000), (5000, 5000, 5000)], [0, 0], id="held up between two readings"),
        pytest.param([(0, 0, 500), (1000, 9000, 1000), (2000, 2000, 2000)], [0, -8000], id="held up at the first look"),
    ],
)
def test_steps(looks: list[tuple[int, int, int]], expected: list[int]) -> None:
    assert watched(*looks) == expected
