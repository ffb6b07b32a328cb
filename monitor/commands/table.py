"""The answer to a query as a table: a column for each label that differs, what all series share above it."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.sample import format_value

_MATRIX = ("points", "min", "max", "last")


def print_answer(data: dict[str, Any], console: Console) -> None:
    """Print the `data` of an answer of the HTTP API."""
    kind, result = data["resultType"], data["result"]
    if kind in ("scalar", "string"):
        console.print(Text(visible(result[1])))
        return
    if not result:
        console.print("no series")
        return
    columns, cells = (_MATRIX, _spread) if kind == "matrix" else (("value",), _value)
    series = [Labels.of(one["metric"]) for one in result]
    common = shared(series)
    print_shared(common, console)
    console.print(_table([labels.without(dict(common)) for labels in series], columns, map(cells, result)))


def print_shared(labels: Labels, console: Console) -> None:
    """Print what all series have in common, if anything."""
    if labels:
        console.print(Text(visible(str(labels)), "dim"))


def shared(series: Sequence[Labels]) -> Labels:
    """Return the labels that all `series` have in common."""
    common = set(series[0]).intersection(*series)
    return Labels(sorted(common))


def visible(text: str) -> str:
    """Return `text` on one line, what cannot be seen or moves the cursor written as an escape."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _table(series: Sequence[Labels], columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    names = sorted({name for labels in series for name, _ in labels})
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    for name in names:
        table.add_column(Text(visible("metric" if name == METRIC_NAME else name)), overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for labels, cells in zip(series, rows, strict=True):
        table.add_row(*[Text(visible(labels.value(name))) for name in names], *cells)
    return table


def _value(one: dict[str, Any]) -> Sequence[str]:
    if "histogram" in one:
        return ("(native histogram)",)
    return (one["value"][1],)


def _spread(one: dict[str, Any]) -> Sequence[str]:
    texts = [text for _, text in one.get("values", ())]
    numbers = [value for value in map(float, texts) if not math.isnan(value)]
    ends = [format_value(end) for end in (min(numbers), max(numbers))] if numbers else ["", ""]
    return (str(len(texts)), *ends, texts[-1] if texts else "")
