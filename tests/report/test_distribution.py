"""The distribution of a period: percentiles as PromQL has them, pieces that add up, and what lies above a limit."""

from collections.abc import Sequence
from itertools import accumulate
from math import inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model.instant import DAY, MINUTE, Duration, Instant, parse_duration
from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql import Engine, Vector, parse
from monitor.report.distribution import percentile, share_above
from monitor.report.gather import Model, Points, gather
from monitor.report.period import Period
from monitor.report.questions import Distribution
from monitor.storage.window import Window

EDGES = (0.1, 0.5, 2.5, 10.0, inf)


@given(st.lists(st.integers(0, 100), min_size=len(EDGES), max_size=len(EDGES)), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_that_of_promql(each: list[int], ratio: float) -> None:
    counts = dict(zip(EDGES, map(float, accumulate(each)), strict=True))
    window = Window()
    block = window.block("")
    columns = [block.column(Labels.of({METRIC_NAME: "b", "le": f"{edge:g}".replace("inf", "+Inf")})) for edge in counts]
    block.append(MINUTE, columns, list(counts.values()))
    value = Engine(window).instant(parse(f"histogram_quantile({ratio}, b)"), MINUTE).value
    assert isinstance(value, Vector)
    ((_, expected),) = value.samples
    found = percentile(counts, ratio)
    assert (found is None and isnan(expected)) or found == pytest.approx(expected)


def test_edges_that_only_some_servers_have_do_not_turn_it_around() -> None:
    assert percentile({1.0: 50, 2.0: 10, 4.0: 100, inf: 100}, 0.75) == pytest.approx(3)


@pytest.mark.parametrize(
    ("limit", "expected"), [(1000, (0.6, 0.6)), (1500, (0.2, 0.6)), (50_000, (0.0, 0.1)), (1, (0.6, 1.0))]
)
def test_what_lies_above_a_limit_is_known_at_edges(limit: float, expected: tuple[float, float]) -> None:
    assert share_above({1000: 40, 5000: 80, 10_000: 90, inf: 100}, limit) == pytest.approx(expected)


def test_of_a_short_period_too_much_would_be_missing() -> None:
    def ask(expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        assert Distribution.TTFT not in expr, (start, end, step)
        return []

    assert gather(ask, Period(0, 59 * MINUTE)).distributions[Distribution.TTFT] == {}


def test_of_nothing_nothing_is_known() -> None:
    assert percentile({}, 0.5) is percentile({1.0: 0.0, inf: 0.0}, 0.5) is None
    assert share_above({}, 1) is None


@pytest.mark.parametrize("days", [7, 10, 35])
def test_the_five_minutes_that_lie_in_a_period_count_once(days: int) -> None:
    """Samples stand at whole five minutes and hold the five minutes before; ranges with and without their beginning."""
    period = Period(0, days * DAY)
    for closed in (False, True):

        def ask(
            expr: str, start: Instant, end: Instant, step: Duration, /, *, closed: bool = closed
        ) -> Sequence[Points]:
            assert step
            if Distribution.TTFT not in expr:
                return []
            after = start - parse_duration(expr.partition("[")[2].partition("]")[0])
            first = -(-(after if closed else after + 1) // (5 * MINUTE))
            count = float(end // (5 * MINUTE) - first + 1)
            return [Points(Labels.of(job="j", model_name="m", le="+Inf"), [end], [count])]

        found = gather(ask, period).counts(Distribution.TTFT, Model("j", "m"))
        assert found == {inf: days * 288}
