"""What is drawn, and its form on the way to the child that draws it."""

import json
from dataclasses import asdict, dataclass
from math import isfinite

from monitor.model.instant import Instant

MOST_LINES, MOST_POINTS, LONGEST_TEXT = 5, 121, 120
# Below what a pipe holds, so that handing it over never waits for the child.
MOST_BYTES = 60_000


@dataclass(frozen=True, slots=True)
class Line:
    """One series: `name` tells it from the others; a value at each time, None where there is none."""

    name: str
    times: tuple[Instant, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Series of `signal` from `start` to `end` with the line that they crossed. Texts are shown as they are."""

    title: str
    signal: str
    lines: tuple[Line, ...]
    threshold: float
    start: Instant
    end: Instant


def encoded(chart: Chart) -> bytes:
    """Return the chart as JSON; raises ValueError for what is too large, or not finite."""
    body = json.dumps(asdict(chart), allow_nan=False).encode()
    if len(body) > MOST_BYTES:
        raise ValueError("the chart is too large")
    return body


def decoded(body: bytes) -> Chart:
    """Return the chart of a JSON text; raises ValueError."""
    if len(body) > MOST_BYTES:
        raise ValueError("the chart is too large")
    try:
        given = json.loads(body)
        lines = tuple(_line(line) for line in given["lines"])
        texts = str(given["title"]), str(given["signal"])
        chart = Chart(*texts, lines, float(given["threshold"]), int(given["start"]), int(given["end"]))
    except (KeyError, TypeError, AttributeError, OverflowError) as err:
        raise ValueError("not a chart") from err
    if not 0 < len(lines) <= MOST_LINES or not isfinite(chart.threshold) or not 0 <= chart.start < chart.end:
        raise ValueError("a chart without lines, or with too many")
    if any(len(text) > LONGEST_TEXT for text in (*texts, *(line.name for line in lines))):
        raise ValueError("a text is too long")
    return chart


def _line(given: dict[str, list[float | None]]) -> Line:
    times = tuple(int(at) for at in given["times"] if at is not None)
    values = tuple(None if value is None else float(value) for value in given["values"])
    if len(times) != len(values) or len(times) > MOST_POINTS:
        raise ValueError("a line with too many points, or without their times")
    return Line(str(given["name"]), times, values)
