"""Series as a picture for the terminal: Braille characters, eight dots each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from rich.text import Text

from monitor.model.instant import DAY, SECOND, Duration, Instant

COLOURS = ("cyan", "yellow", "magenta", "green", "red", "blue")
MOST_SERIES = 2 * len(COLOURS)
_BLANK = 0x2800
_ACROSS, _DOWN = 2, 4
# The bit of each dot of a character, by column and row from the top.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_TICKS = 5
_GUTTER = 10
# Not NaN, not infinite, and the distance of two is finite too.
_TOO_FAR = 1e300


class Point(NamedTuple):
    at: Instant
    value: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A series to draw, under its name; its points are in the order of their times."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Frame:
    """What part of time and values is drawn, on how many characters."""

    start: Instant
    end: Instant
    low: float
    high: float
    width: int
    height: int

    def dot(self, point: Point) -> tuple[int, int]:
        """Return the dot of a point: columns from the left, rows from the top."""
        right, bottom = self.width * _ACROSS - 1, self.height * _DOWN - 1
        across = (point.at - self.start) / max(self.end - self.start, 1)
        up = (point.value - self.low) / (self.high - self.low)
        return round(across * right), bottom - round(up * bottom)


class Canvas:
    """Dots on a grid of characters; a character has the colour of its last dot."""

    def __init__(self, width: int, height: int) -> None:
        self._cells = [[0] * width for _ in range(height)]
        self._colours = [[""] * width for _ in range(height)]

    def dot(self, across: int, down: int, colour: str) -> None:
        row, column = down // _DOWN, across // _ACROSS
        self._cells[row][column] |= _BITS[across % _ACROSS][down % _DOWN]
        self._colours[row][column] = colour

    def line(self, start: tuple[int, int], end: tuple[int, int], colour: str) -> None:
        """Draw all dots from `start` to `end`."""
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            part = step / steps
            across, down = (round(one + (other - one) * part) for one, other in zip(start, end, strict=True))
            self.dot(across, down, colour)

    def rows(self) -> Iterator[Text]:
        for cells, colours in zip(self._cells, self._colours, strict=True):
            yield Text.assemble(*((chr(_BLANK + bits), colour) for bits, colour in zip(cells, colours, strict=True)))


def plot(curves: Sequence[Curve], start: Instant, end: Instant, step: Duration, size: tuple[int, int]) -> list[Text]:
    """
    Return the lines of a picture of at most `size` characters, and below it what each colour is.

    Points more than a `step` apart are not joined: between them there was nothing.
    """
    drawn = curves[:MOST_SERIES]
    values = [point.value for curve in drawn for point in curve.points if _has_place(point)]
    if not values:
        return [Text("no points to draw")]
    frame = Frame(start, end, *_bounds(values), size[0] - _GUTTER, size[1])
    canvas = Canvas(frame.width, frame.height)
    for number, curve in enumerate(drawn):
        _draw(curve, frame, step, canvas, _colour(number))
    lines = [Text.assemble((label, "dim"), row) for label, row in zip(_labels(frame), canvas.rows(), strict=True)]
    lines.append(_times(frame))
    lines += [Text.assemble(("━━ ", _colour(number)), curve.name) for number, curve in enumerate(drawn)]
    if len(curves) > len(drawn):
        lines.append(Text(f"{len(curves) - len(drawn)} more series are not drawn", "dim"))
    return lines


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    # A flat line is drawn in the middle.
    room = 0.0 if high - low > abs(high) * 1e-9 else max(abs(high) / 2, 1.0)
    return low - room, high + room


def _has_place(point: Point) -> bool:
    return abs(point.value) < _TOO_FAR


def _draw(curve: Curve, frame: Frame, step: Duration, canvas: Canvas, colour: str) -> None:
    last: Point | None = None
    for point in curve.points:
        if not _has_place(point):
            last = None
            continue
        joined = last if last is not None and point.at - last.at <= step else point
        canvas.line(frame.dot(joined), frame.dot(point), colour)
        last = point


def _labels(frame: Frame) -> Iterator[str]:
    """Yield what stands left of each row."""
    ticks = {round(tick * (frame.height - 1) / (_TICKS - 1)) for tick in range(_TICKS)}
    for row in range(frame.height):
        value = frame.high - (frame.high - frame.low) * row / max(frame.height - 1, 1)
        yield f"{value:>{_GUTTER - 2}.4g} ┤" if row in ticks else " " * (_GUTTER - 1) + "│"


def _times(frame: Frame) -> Text:
    form = "%H:%M:%S" if frame.end - frame.start < DAY else "%Y-%m-%d %H:%M"
    first, last = (_clock(at, form) for at in (frame.start, frame.end))
    return Text(f"{'':{_GUTTER}}{first}{last + ' UTC':>{max(frame.width - len(first), 0)}}", "dim")


def _clock(at: Instant, form: str) -> str:
    try:
        return f"{datetime.fromtimestamp(at // SECOND, UTC):{form}}"
    except (ValueError, OverflowError):
        return str(at // SECOND)
