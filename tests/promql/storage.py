"""Windows written as text: `name{label="value"} 1 2 _ stale NaN`, one value a minute."""

import re
from collections.abc import Sequence

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.promql import Engine, Matrix, Scalar, Vector, parse
from monitor.storage.window import Window

_SERIES = re.compile(r"(?P<name>[a-zA-Z_:]*)(?:\{(?P<labels>.*)\})? (?P<values>.*)")
_PAIR = re.compile(r'([a-zA-Z_]+)="([^"]*)"')


def stored(*lines: str, step: Duration = MINUTE, start: Instant = 0) -> Window:
    """
    Return a window with the series of `lines`: `_` is a row in which nothing was written, `stale` a marker.

    Every series has a block of its own, so that each may leave out rows.
    """
    window = Window(10**15)
    for owner, line in enumerate(lines):
        labels, values = series(line)
        block = window.block(owner)
        column = block.column(labels, counter=True)
        for row, text in enumerate(values):
            if text == "stale":
                block.append(start + row * step, (), ())
            elif text != "_":
                block.append(start + row * step, (column,), (float(text),))
    return window


def series(line: str) -> tuple[Labels, Sequence[str]]:
    found = _SERIES.fullmatch(line)
    assert found is not None, line
    pairs = _PAIR.findall(found["labels"] or "")
    return Labels.of(pairs, __name__=found["name"]), found["values"].split()


def instant(window: Window, query: str, at: Instant) -> dict[str, float]:
    """Return the answer to an instant query as `{series as text: value}`; a scalar is the series "scalar"."""
    value = Engine(window).instant(parse(query), at).value
    if isinstance(value, Scalar):
        return {"scalar": value.value}
    assert isinstance(value, Vector)
    return {str(labels): one for labels, one in value}


def ranged(window: Window, query: str, start: Instant, end: Instant, step: Duration) -> dict[str, dict[Instant, float]]:
    """Return the answer to a range query as `{series as text: {time: value}}`."""
    value = Engine(window).range(parse(query), start, end, step).value
    assert isinstance(value, Matrix)
    return {str(one.labels): dict(zip(one.times, one.values, strict=True)) for one in value}
