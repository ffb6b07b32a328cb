import math
import threading
from itertools import count

import pytest

from monitor.model.instant import HOUR, MINUTE
from monitor.model.labels import Labels
from monitor.promql import Engine, ErrorKind, Limits, Plan, PromqlError, String, Vector, parse
from monitor.storage.window import Window
from tests.promql.storage import instant, ranged, stored


@pytest.mark.parametrize(
    ("at", "found"),
    [
        pytest.param(-1, {}, id="before-the-first-sample"),
        pytest.param(0, {"x": 1}, id="at-the-sample"),
        pytest.param(MINUTE - 1, {"x": 1}, id="until-the-next"),
        pytest.param(MINUTE, {"x": 2}, id="at-the-next"),
        pytest.param(6 * MINUTE - 1, {"x": 2}, id="for-the-lookback"),
        pytest.param(6 * MINUTE, {}, id="which-is-open-at-its-start"),
    ],
)
def test_a_selector_sees_the_newest_sample_of_the_lookback(at: int, found: dict[str, float]) -> None:
    assert instant(stored("x 1 2"), "x", at) == found


def test_the_lookback_can_be_set() -> None:
    engine = Engine(stored("x 1"), lookback=MINUTE)
    assert engine.instant(parse("x"), MINUTE).value == Vector(MINUTE, [])


def test_a_stale_marker_hides_what_was_before_it_but_not_from_a_range() -> None:
    window = stored("x 1 2 stale")
    assert instant(window, "x", 2 * MINUTE) == {}
    assert instant(window, "sum_over_time(x[3m])", 2 * MINUTE) == {"{}": 3}
    assert instant(window, "last_over_time(x[3m])", 2 * MINUTE) == {"x": 2}


def test_an_ordinary_nan_is_a_value() -> None:
    assert math.isnan(instant(stored("x NaN"), "x", 0)["x"])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("x offset 1m", 2),
        ("x offset -1m", 4),
        ("x @ 60", 1),
        ("x @ 60 offset -1m", 2),
        ("x offset -1m @ 60", 2),
        ("x @ start()", 3),
        ("sum_over_time(x[2m] @ 120)", 3),
        ("sum_over_time(x[2m] offset 1m)", 3),
        ("sum_over_time(x[3m:1m])", 6),
        ("sum_over_time(x[2m:])", 5),
        ("sum_over_time(x[90s:30s])", 7),
    ],
)
def test_a_selector_can_be_moved_in_time(query: str, found: float) -> None:
    window = stored("x 0 1 2 3 4 5")
    assert list(instant(window, query, 3 * MINUTE).values()) == [found]


def test_a_subquery_without_a_step_takes_the_one_that_is_set() -> None:
    plan = parse("count_over_time(x[5m:])")
    value = Engine(stored("x 1 1 1 1 1 1"), default_subquery_step=30_000).instant(plan, 5 * MINUTE).value
    assert value == Vector(5 * MINUTE, [(Labels(), 10.0)])


def test_a_range_query_of_start_and_end_sees_its_own() -> None:
    window = stored("x 0 1 2 3 4")
    assert ranged(window, "x @ start() + x @ end()", MINUTE, 3 * MINUTE, MINUTE) == {
        "{}": {MINUTE: 4, 2 * MINUTE: 4, 3 * MINUTE: 4}
    }


def test_a_range_query_leaves_out_the_steps_without_a_sample_and_orders_by_labels() -> None:
    window = stored('x{a="2"} 1 stale _ 4', 'x{a="1"} 1 2 3 4')
    found = ranged(window, "x", 0, 3 * MINUTE, MINUTE)
    assert found == {
        'x{a="1"}': {0: 1, MINUTE: 2, 2 * MINUTE: 3, 3 * MINUTE: 4},
        'x{a="2"}': {0: 1, 3 * MINUTE: 4},
    }
    assert list(found) == ['x{a="1"}', 'x{a="2"}']


@pytest.mark.parametrize("query", ["x[5m]", '"text"'])
def test_a_range_query_needs_a_scalar_or_an_instant_vector(query: str) -> None:
    with pytest.raises(PromqlError, match="must be Scalar or instant Vector") as caught:
        Engine(stored()).range(parse(query), 0, MINUTE, MINUTE)
    assert caught.value.kind is ErrorKind.BAD_DATA


@pytest.mark.parametrize(("start", "end", "step"), [(0, MINUTE, 0), (MINUTE, 0, MINUTE)])
def test_a_range_query_needs_a_step_and_an_end(start: int, end: int, step: int) -> None:
    with pytest.raises(PromqlError):
        Engine(stored()).range(parse("x"), start, end, step)


def test_a_query_that_reads_too_many_samples_fails() -> None:
    engine = Engine(stored("x " + "1 " * 100), limits=Limits(samples=50))
    assert engine.instant(parse("max_over_time(x[50m])"), HOUR).value == Vector(HOUR, [(Labels(), 1.0)])
    with pytest.raises(PromqlError, match="too many samples") as caught:
        engine.instant(parse("max_over_time(x[51m])"), HOUR)
    assert caught.value.kind is ErrorKind.EXECUTION


def test_a_query_that_takes_too_long_ends() -> None:
    ticks = count()
    engine = Engine(stored("x 1 2"), limits=Limits(seconds=2), now=lambda: next(ticks))
    with pytest.raises(PromqlError, match="timed out") as caught:
        engine.range(parse("sum_over_time(x[1h:1s])"), 0, HOUR, 1000)
    assert caught.value.kind is ErrorKind.TIMEOUT


def test_answers_have_the_shape_of_the_http_api() -> None:
    engine = Engine(stored('x{a="b"} 1 NaN'))
    assert engine.instant(parse("x"), 500).as_json() == {
        "resultType": "vector",
        "result": [{"metric": {"__name__": "x", "a": "b"}, "value": [0.5, "1"]}],
    }
    assert engine.instant(parse("x[5m]"), MINUTE).as_json() == {
        "resultType": "matrix",
        "result": [{"metric": {"__name__": "x", "a": "b"}, "values": [[0, "1"], [60, "NaN"]]}],
    }
    assert engine.instant(parse("1e21"), 0).as_json() == {"resultType": "scalar", "result": [0, "1e+21"]}
    assert engine.instant(parse("'a'"), 0).as_json() == {"resultType": "string", "result": [0, "a"]}
    assert engine.instant(parse("'a'"), 0).value == String(0, "a")


def test_a_plan_sees_series_that_come_and_go_between_evaluations() -> None:
    window = stored('x{a="1"} 1 1 1')
    plan = parse("sum by (a) (x)")
    engine = Engine(window)
    seen = [engine.instant(plan, 0).value]
    block = window.block("late")
    column = block.column(Labels.of(__name__="x", a="2"))
    block.append(MINUTE, (column,), (5.0,))
    seen.append(engine.instant(plan, MINUTE).value)
    window.end("late", 2 * MINUTE)
    seen.append(engine.instant(plan, 2 * MINUTE).value)
    one, two = (Labels.of(a="1"), 1.0), (Labels.of(a="2"), 5.0)
    assert seen == [Vector(0, [one]), Vector(MINUTE, [one, two]), Vector(2 * MINUTE, [one])]


def test_a_series_of_two_writers_is_one() -> None:
    window = stored("x 1 _ 3", "x _ 2 _ 4")
    assert instant(window, "sum_over_time(x[5m])", 3 * MINUTE) == {"{}": 10}
    assert instant(window, "count(x)", 3 * MINUTE) == {"{}": 1}


def test_columns_are_read_safely_while_they_are_written_and_pruned() -> None:
    window = Window(retention=50)
    block = window.block("target")
    columns = [block.column(Labels.of(__name__="x_total", k=str(k)), counter=True) for k in range(20)]
    block.append(0, columns, [0.0] * 20)
    # All counters of a row are equal, and rise by one a millisecond but for their resets.
    plan = parse("max(x_total) - min(x_total) + (max(increase(x_total[20ms])) > bool 21)")
    stop = threading.Event()
    seen: set[float] = set()
    reader = threading.Thread(target=_read, args=(window, plan, stop, seen))
    reader.start()
    for at in range(1, 4000):
        # The second half of the series leaves out a row now and then.
        present = columns if at % 89 else columns[:10]
        block.append(at, present, [float(at % 1000)] * len(present))
        window.prune(at)
    stop.set()
    reader.join()
    assert seen == {0.0}


def _read(window: Window, plan: Plan, stop: threading.Event, seen: set[float]) -> None:
    engine = Engine(window)
    while not stop.is_set():
        value = engine.instant(plan, window.block("target").newest_time or 0).value
        assert isinstance(value, Vector)
        seen.update(one for _, one in value)
