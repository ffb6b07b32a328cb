"""Expressions written out as Prometheus writes them."""

import json
from pathlib import Path
from random import Random

import pytest

from monitor.promql import Engine, PromqlError, parse
from monitor.storage.window import Window
from monitor.web.pretty import pretty
from tests.differential.expressions import Expressions
from tests.differential.series import fill, targets

DATA = Path(__file__).parent.parent / "data" / "promql"
FORMATTED = [
    row
    for name in ("formatted_3_5_3.json", "formatted_durations_3_5_3.json")
    for row in json.loads((DATA / name).read_text())
]
START = 1_700_000_000_000
AT = START + 20 * 60_000
# Prometheus forgets these quotes, and so prints what cannot be parsed.
FORGOTTEN_QUOTES = 'sum by ("a b") (x) / on ("c d") group_left ("e f") y'


def lines(text: str) -> list[str]:
    """Return the lines without their indentation: Prometheus forgets it before a subquery inside a longer call."""
    return [line.lstrip(" ") for line in text.splitlines()]


@pytest.mark.parametrize("row", FORMATTED, ids=lambda row: row["query"][:60])
def test_expressions_are_written_as_prometheus_writes_them(row: dict[str, str]) -> None:
    query, expected = row["query"], row["formatted"]
    if query == FORGOTTEN_QUOTES:
        assert pretty(query) == FORGOTTEN_QUOTES
        return
    assert lines(pretty(query)) == lines(expected)
    if "[1h:5m]" not in query:
        assert pretty(query) == expected


def test_a_subquery_in_a_longer_call_is_indented_as_its_neighbours() -> None:
    query = f"quantile_over_time(scalar({'a' * 80}), b[1h:5m])"
    assert pretty(query) == f"quantile_over_time(\n  scalar({'a' * 80}),\n  b[1h:5m]\n)"


@pytest.mark.parametrize(
    ("query", "written"),
    [
        # Prometheus forgets the parentheses, and so prints another offset or another power.
        ("x offset - -1m * 2", "x offset (1m * 2)"),
        ("x offset (1m) + 1", "x offset (1m + 1)"),
        ("x offset - (2 + 1) ^ 2", "x offset -(2 + 1) ^ 2"),
        ("x[(-2) ^ 2]", "x[(-2) ^ 2]"),
    ],
)
def test_a_computed_duration_keeps_the_parentheses_that_it_needs(query: str, written: str) -> None:
    assert pretty(query) == written
    assert pretty(written) == written
    assert parse(written).selectors == parse(query).selectors


def answered(engine: Engine, query: str) -> str | None:
    """Return the answer; None for an expression that has none."""
    try:
        return repr(engine.instant(parse(query), AT).as_json())
    except PromqlError:
        return None


def test_what_is_written_means_the_same() -> None:
    window = Window()
    fill(window, targets(Random(1), START))  # noqa: S311 - to be repeated, not to be secret
    engine, expressions, compared = Engine(window), Expressions(Random(2)), 0  # noqa: S311
    while compared < 150:
        query = expressions.any()
        expected = answered(engine, query)
        if expected is None:
            continue
        compared += 1
        written = pretty(query)
        assert pretty(written) == written
        assert answered(engine, written) == expected, query
