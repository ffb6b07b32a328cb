"""The answer to a query in one of its three forms: a table, a picture, or JSON."""

import json
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from rich.console import Console

from monitor.commands.plot import Curve, Point, plot
from monitor.commands.table import print_answer, print_shared, shared, visible
from monitor.commands.usage import UsageError
from monitor.model.instant import Duration, from_seconds
from monitor.model.labels import Labels

_LEAST_WIDTH, _MOST_WIDTH, _HEIGHT = 40, 120, 17
# Nobody breaks the lines of a table that goes to a file or another program.
_UNBROKEN = 10_000


class Form(Enum):
    TABLE = auto()
    PLOT = auto()
    JSON = auto()


def form_of(*, json: bool, plot: bool, is_range: bool) -> Form:
    """Return the form that is wanted. Raises UsageError."""
    if json and plot:
        raise UsageError("--json and --plot exclude each other")
    if plot and not is_range:
        raise UsageError("--plot draws a range: give --range")
    if json:
        return Form.JSON
    return Form.PLOT if plot else Form.TABLE


def show(answer: Mapping[str, Any], form: Form, step: Duration, console: Console) -> None:
    """Print an answer of the HTTP API on `console`; `step` is that of the range that was asked for."""
    if form is Form.JSON:
        print(json.dumps(answer, ensure_ascii=False), file=console.file)
    elif form is Form.PLOT:
        _print_plot(answer["data"]["result"], step, console)
    else:
        print_answer(answer["data"], console)


def remarks(answer: Mapping[str, Any]) -> list[str]:
    """Return the warnings and infos beside an answer, a line each."""
    return [visible(text) for key in ("warnings", "infos") for text in answer.get(key, ())]


def terminal() -> Console:
    """Return standard output, as wide as the terminal; without one, as wide as its lines."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_UNBROKEN)


def _print_plot(result: list[dict[str, Any]], step: Duration, console: Console) -> None:
    series = [Labels.of(one["metric"]) for one in result]
    common = shared(series) if len(series) > 1 else Labels()
    curves = [
        Curve(
            visible(str(labels.without(name for name, _ in common))),
            [Point(from_seconds(at), float(value)) for at, value in one.get("values", ())],
        )
        for labels, one in zip(series, result, strict=True)
    ]
    times = [point.at for curve in curves for point in curve.points]
    print_shared(common, console)
    width = min(max(console.width, _LEAST_WIDTH), _MOST_WIDTH)
    for line in plot(curves, min(times, default=0), max(times, default=0), step, (width, _HEIGHT)):
        console.print(line, overflow="ignore", no_wrap=True, crop=False)
