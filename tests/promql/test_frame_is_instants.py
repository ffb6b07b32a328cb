"""An expression along a column of times is the instant queries at each of them."""

import math
from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import MINUTE
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.promql import Engine, Plan, Scalar, Vector, parse
from monitor.promql.frame import Steps
from monitor.storage.window import Window
from tests.differential.expressions import Expressions
from tests.differential.series import ROWS_MINUTES, fill, targets
from tests.promql.storage import stored

_STEPS = 12


def _window() -> Window:
    window = Window(10**15)
    fill(window, targets(Random(7), 0))  # noqa: S311 - it must be repeatable
    return window


_WINDOW = _window()
_ENGINE = Engine(_WINDOW)


@given(
    st.integers(0, 2**32),
    st.integers(0, ROWS_MINUTES * MINUTE),
    st.sampled_from((1000, 15_000, 47_000, 5 * MINUTE)),
)
# Each time the same ones: a comparison of sums that differ in their last bit may come out either way.
@settings(max_examples=400, deadline=None, derandomize=True)
def test_a_column_holds_what_the_instant_queries_answer(seed: int, start: int, step: int) -> None:
    text = Expressions(Random(seed)).any().replace("@middle@", "600")  # noqa: S311 - repeatable
    # What start() and end() mean differs between the two: they are fixed to times.
    plan = parse(text.replace("start()", "300").replace("end()", "900"))
    times = [start + step * number for number in range(_STEPS)]
    frame = _ENGINE.frame(plan, Steps(times))
    if frame is not None:
        assert _same([dict(frame.at(k)) for k in range(_STEPS)], [_instant(plan, at) for at in times])


# What the shipped rules and most others are made of.
_IN_ONE_GO = (
    "requests_total",
    "rate(requests_total[2m]) or rate(errors_total[5m])",
    "sum by (job) (rate(requests_total[1m])) > 0.01 and on (job) max by (job) (up) == 1",
    "histogram_quantile(0.9, rate(latency_seconds_bucket[5m])) >= 0",
    "quantile_over_time(0.2, vllm:num_requests_running[1m]) > 2 unless vllm:num_requests_running > 5",
    "increase(requests_total[3m]) / ignoring (path) group_left sum without (path) (increase(requests_total[3m]))",
    "max_over_time(up[5m]) - min_over_time(up[5m]) == bool 0",
    "absent(nosuch) * time()",
    'label_replace(clamp_max(round(up), 1), "x", "$1", "job", "(.).*")',
    "-(scalar(count(up)) * build_info offset 1m)",
    "changes(requests_total[90s])",
)


def test_common_expressions_are_evaluated_in_one_go() -> None:
    times = range(5 * MINUTE, 30 * MINUTE, 15_000)
    for text in _IN_ONE_GO:
        plan = parse(text)
        frame = _ENGINE.frame(plan, Steps(times))
        assert frame is not None, text
        assert _same([dict(frame.at(k)) for k in range(len(times))], [_instant(plan, at) for at in times]), text


def test_a_row_that_is_written_after_its_time_is_not_seen_at_it() -> None:
    window = stored("x 0 1 2 3 4 5 6 7 8 9")
    (column,) = window.select((equal(METRIC_NAME, "x"),))
    steps = Steps(range(3 * MINUTE, 9 * MINUTE, MINUTE), {column.block})
    found = {}
    for text in ("x", "sum_over_time(x[3m])", "x offset 1m", "increase(x[4m] offset 1m)", "rate(x[90s])"):
        frame = Engine(window).frame(parse(text), steps)
        assert frame is not None
        found[text] = [frame.at(k)[0][1] if frame.at(k) else None for k in range(3)]
    # At three minutes the newest is that of two, and of a range of three minutes there are those of one and two.
    assert found == {
        "x": [2.0, 3.0, 4.0],
        "sum_over_time(x[3m])": [3.0, 5.0, 7.0],
        "x offset 1m": [2.0, 3.0, 4.0],
        "increase(x[4m] offset 1m)": [2.0, 3.0, 4.0],
        "rate(x[90s])": [None, None, None],
    }
    # What goes time by time cannot know of it.
    assert Engine(window).frame(parse("topk(1, x)"), steps) is None


def _instant(plan: Plan, at: int) -> dict[Labels, float]:
    value = _ENGINE.instant(plan, at).value
    if isinstance(value, Scalar):
        return {Labels(): value.value}
    assert isinstance(value, Vector)
    return dict(value.samples)


def _same(found: Sequence[dict[Labels, float]], expected: Sequence[dict[Labels, float]]) -> bool:
    """Say whether both are the same, but for the order in which series are summed up: nobody promises it."""
    return all(
        one.keys() == other.keys() and all(_alike(value, other[labels]) for labels, value in one.items())
        for one, other in zip(found, expected, strict=True)
    )


def _alike(one: float, other: float) -> bool:
    return repr(one) == repr(other) or math.isclose(one, other, rel_tol=1e-9)
