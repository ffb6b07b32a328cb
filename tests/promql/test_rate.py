"""rate, increase and delta: what they answer."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.promql import Engine, parse
from monitor.promql.rate import DELTA, INCREASE, block_changes
from monitor.promql.run import Run
from monitor.storage.column import Block, Column
from monitor.storage.window import Window
from tests.promql.storage import instant, stored


@pytest.mark.parametrize(
    ("values", "query", "found"),
    [
        pytest.param("0 1 2 3 4 5", "increase(x_total[5m])", 5, id="to-the-start-which-is-open"),
        pytest.param("10 11 12 13 14 15", "rate(x_total[5m])", 5 / 300, id="a-second"),
        pytest.param("10 11 12 3 4 5", "increase(x_total[5m])", 12 - 11 + 3 + 2 + 1.5, id="a-reset"),
        pytest.param("_ _ _ 0 10 20", "increase(x_total[5m])", 20, id="not-below-zero"),
        pytest.param("_ _ _ 30 40 50", "increase(x_total[5m])", 25, id="half-an-interval-before-the-first"),
        pytest.param("_ _ 10 20 30 _", "increase(x_total[5m])", 35, id="half-an-interval-after-the-last"),
        pytest.param("5 4 3 2 1 0", "delta(x_total[5m])", -5, id="a-gauge-may-fall"),
        pytest.param("1 2 stale _ 3 4", "increase(x_total[5m])", 2.5, id="a-gap-is-no-reset"),
        pytest.param("9 stale 1 2 3 4", "increase(x_total[5m])", 3.5, id="a-reset-before-the-window-counts-not"),
    ],
)
def test_a_change_is_extrapolated_to_the_ends_of_the_range(values: str, query: str, found: float) -> None:
    assert list(instant(stored(f"x_total {values}"), query, 5 * MINUTE).values()) == [pytest.approx(found)]


@pytest.mark.parametrize("values", ["_ _ _ _ _ 5", "_ _ _ _ _ _", "5 _ _ _ _ _"])
def test_less_than_two_samples_make_no_change(values: str) -> None:
    assert instant(stored(f"x_total {values}"), "rate(x_total[5m])", 5 * MINUTE) == {}


def test_a_metric_that_is_no_counter_is_remarked() -> None:
    result = Engine(stored("x 1 2 3")).instant(parse("1 +\n rate(x[5m])"), 2 * MINUTE)
    remark = 'metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "x" (2:7)'
    assert result.infos == (f"PromQL info: {remark}",)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=30))
def test_an_increase_is_what_was_gained_between_the_ends(counts: list[int]) -> None:
    block = Block()
    column: Column = block.column(Labels(), counter=True)
    for at, count in enumerate(counts):
        block.append(at * 1000, (column,), (float(count),))
    gained = sum(now - before if now >= before else now for before, now in pairwise(counts))
    last = (len(counts) - 1) * 1000
    (found,) = block_changes(Run(Window(), start=0, end=0, step=0), DELTA, block, (column,), (-1, last))
    (risen,) = block_changes(Run(Window(), start=0, end=0, step=0), INCREASE, block, (column,), (-1, last))
    assert found == pytest.approx(counts[-1] - counts[0], rel=0.01)
    assert risen == pytest.approx(gained, rel=0.01)
