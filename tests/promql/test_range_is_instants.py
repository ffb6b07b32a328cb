"""A range query is the instant queries at its steps."""

from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import MINUTE
from monitor.promql import Engine, Matrix, Plan, PromqlError, Scalar, Vector, parse
from monitor.storage.window import Window
from tests.differential.expressions import Expressions
from tests.differential.series import ROWS_MINUTES, fill, targets

_STEPS = 6


def _window() -> Window:
    window = Window(10**15)
    fill(window, targets(Random(7), 0))  # noqa: S311 - it must be repeatable
    return window


_ENGINE = Engine(_window())


@given(
    st.integers(0, 2**32),
    st.integers(0, ROWS_MINUTES * MINUTE),
    st.sampled_from((1000, 15_000, 47_000, 5 * MINUTE)),
)
@settings(max_examples=300, deadline=None)
def test_an_instant_query_answers_as_the_range_query_does_at_that_time(seed: int, start: int, step: int) -> None:
    # What start() and end() mean differs between the two: they are fixed to times.
    text = Expressions(Random(seed)).any().replace("@middle@", "600")  # noqa: S311 - repeatable
    plan = parse(text.replace("start()", "300").replace("end()", "900"))
    times = [start + step * number for number in range(_STEPS)]
    instants = [_instant(plan, at) for at in times]
    # A range query fails where one of the instant queries fails.
    assert _range(plan, times) == (None if None in instants else instants)


def _instant(plan: Plan, at: int) -> set[tuple[str, str]] | None:
    try:
        value = _ENGINE.instant(plan, at).value
    except PromqlError:
        return None
    if isinstance(value, Scalar):
        return {("{}", repr(value.value))}
    assert isinstance(value, Vector)
    return {(str(labels), repr(one)) for labels, one in value}


def _range(plan: Plan, times: Sequence[int]) -> list[set[tuple[str, str]]] | None:
    try:
        matrix = _ENGINE.range(plan, times[0], times[-1], times[1] - times[0]).value
    except PromqlError:
        return None
    assert isinstance(matrix, Matrix)
    ranged = {at: set[tuple[str, str]]() for at in times}
    for one in matrix:
        for at, value in zip(one.times, one.values, strict=True):
            ranged[at].add((str(one.labels), repr(value)))
    return [ranged[at] for at in times]
