"""What must be there for an expression to find anything."""

from collections.abc import Collection
from functools import lru_cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.promql import Engine, PromqlError, Vector, parse
from monitor.promql.needs import AllOf, Leaf, Need, needs
from monitor.storage.window import Window
from tests.differential.expressions import Expressions
from tests.differential.series import ROWS_MINUTES, fill, targets


def shown(need: Need) -> str:
    """Write a formula: `(a & (b | c))`."""
    if isinstance(need, Leaf):
        return str(need)
    sign = " & " if isinstance(need, AllOf) else " | "
    return "(" + sign.join(shown(part) for part in need.parts) + ")" if need.parts else str(isinstance(need, AllOf))


@pytest.mark.parametrize(
    ("expr", "need"),
    [
        ("a", "a"),
        ('a{x="1", y!=""}', 'a{x="1", y!=""}'),
        ('{__name__=~"a.*"}', '{__name__=~"a.*"}'),
        ("a or b or c", "(a | b | c)"),
        ("a and b", "(a & b)"),
        ("a unless b", "a"),
        ("a + on(x) b", "(a & b)"),
        ("a > bool b", "(a & b)"),
        ("rate(a[5m]) / rate(b[5m]) > 0.5 and c", "(a & b & c)"),
        ("sum by (le) (rate(a[5m])) or absent(b)", "True"),
        ("absent(a)", "True"),
        ("absent_over_time(a[5m]) and b", "b"),
        ("vector(1)", "True"),
        ("time() > bool 3", "True"),
        ("histogram_quantile(0.95, sum by (le) (rate(a_bucket[5m])))", "a_bucket"),
        ("topk(scalar(a), b)", "b"),
        ("max_over_time((a or b)[5m:1m])", "(a | b)"),
        ("a @ 300", "a"),
        ("-a", "a"),
        ("label_replace(a, 'x', '$1', 'y', '(.*)')", "a"),
        ("clamp(a, 0, scalar(b))", "a"),
        ("quantile_over_time(0.5, a[1m])", "a"),
        ("(a or b) and (a or b)", "(a | b)"),
        # A scalar that is missing is NaN, and nothing but != is true of that.
        ("a > scalar(b)", "(a & b)"),
        ("a != scalar(b)", "a"),
        ("a + scalar(b)", "a"),
        # What stands in where there is nothing may never pass the comparison.
        ("(a or vector(0)) > 5", "a"),
        ("5 < (a or vector(0))", "a"),
        ("(a or vector(0)) < 5", "True"),
        ("vector(1) > 2", "False"),
        ("(a or vector(0)) > 5 or b", "(a | b)"),
    ],
)
def test_needs(expr: str, need: str) -> None:
    assert shown(needs(parse(expr))) == need


def met(need: Need, series: Collection[Labels]) -> bool:
    if isinstance(need, Leaf):
        return any(all(matcher.accepts(labels) for matcher in need.matchers) for labels in series)
    meets = all if isinstance(need, AllOf) else any
    return meets(met(part, series) for part in need.parts)


@lru_cache
def _window(missing: int) -> tuple[Window, list[Labels]]:
    """Return a window in which every `missing`-th metric is missing, and the series that it has."""
    written = Window(10**15)
    fill(written, targets(Random(7), 0))  # noqa: S311 - it must be repeatable
    gone = set(written.names()[missing % 3 :: missing])
    window = Window(10**15)
    series = []
    for owner, block in written.blocks():
        kept = [column for column in block.columns.values() if column.labels.name not in gone]
        series += [column.labels for column in kept]
        copy = window.block(owner)
        columns = [copy.column(column.labels, counter=column.counter) for column in kept]
        for at in block.view[0]:
            there = [(c, found[1]) for c, old in zip(columns, kept, strict=True) if (found := old.newest(at - 1, at))]
            copy.append(at, [c for c, _ in there], [value for _, value in there])
    return window, series


@given(st.integers(0, 2**32), st.integers(0, ROWS_MINUTES * MINUTE), st.sampled_from((2, 3, 4, 99)))
@settings(max_examples=400, deadline=None)
def test_what_finds_something_has_its_needs_met(seed: int, at: int, missing: int) -> None:
    window, series = _window(missing)
    text = Expressions(Random(seed)).any().replace("@middle@", "600")  # noqa: S311 - repeatable
    plan = parse(text)
    try:
        value = Engine(window).instant(plan, at).value
    except PromqlError:
        return
    if isinstance(value, Vector) and len(value):
        assert met(needs(plan), series), text
