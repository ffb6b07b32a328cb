"""What one query may cost, and that others do not pay for it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
import requests

from monitor.model.instant import Duration, Instant
from monitor.promql import Engine, Limits, Plan, Result, Scalar
from monitor.storage.window import Window
from monitor.web.error import ApiError
from monitor.web.gate import Gate
from monitor.web.series import MOST_SELECTORS, in_time
from tests.waiting import until
from tests.web.samples import START, fill, series
from tests.web.serving import Served, serve

STEPS = {"start": START / 1000, "end": START / 1000 + 600, "step": 1}


@dataclass
class Slow:
    """An engine whose queries end when they are let go; notes what it was asked with."""

    let_go: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[Duration, float]] = field(default_factory=list)

    def __call__(self, lookback: Duration, seconds: float) -> "Slow":
        self.asked.append((lookback, seconds))
        return self

    def instant(self, plan: Plan, at: Instant) -> Result:
        assert plan
        assert self.let_go.wait(60)
        return Result(Scalar(at, 1.0))

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        raise NotImplementedError


def full() -> Window:
    window = Window()
    fill(window, series())
    return window


TOO_MANY = "query processing would load too many samples"


@pytest.mark.parametrize(
    ("query", "limits", "status", "words"),
    [
        pytest.param("up", Limits(seconds=-1.0), 503, "query timed out in expression evaluation", id="seconds"),
        pytest.param("up", Limits(samples=1_802), 422, TOO_MANY + ": more than 1802", id="samples"),
        pytest.param("up", Limits(points=1_802), 422, TOO_MANY + " into memory in query execution", id="points"),
        pytest.param(
            "max(max_over_time(up[1m:1s]))", Limits(points=179), 422, TOO_MANY + " into memory", id="subquery"
        ),
    ],
)
def test_a_query_that_costs_too_much_is_ended(query: str, limits: Limits, status: int, words: str) -> None:
    window = full()

    def limited(lookback: Duration, seconds: float) -> Engine:
        assert seconds > 0
        return Engine(window, lookback=lookback, limits=limits)

    with serve(window, engines=limited) as ours:
        reply = ours.get("/api/v1/query_range", query=query, **STEPS)
    assert (reply.status_code, reply.json()["errorType"]) == (status, "timeout" if status == 503 else "execution")
    assert reply.json()["error"].startswith(words)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, (300_000, 30.0)),
        ({"timeout": "20s"}, (300_000, 20.0)),
        ({"timeout": "10.25", "lookback_delta": "1m"}, (60_000, 10.25)),
        ({"timeout": "1h"}, (300_000, 30.0)),
    ],
)
def test_timeout_and_lookback_reach_the_engine(parameters: dict[str, str], expected: tuple[int, float]) -> None:
    engine = Slow()
    engine.let_go.set()
    with serve(Window(), engines=engine) as ours:
        assert ours.get("/api/v1/query", query="up", **parameters).ok
    ((lookback, seconds),) = engine.asked
    assert lookback == expected[0]
    # What it has waited for its turn is gone.
    assert expected[1] - 9 < seconds <= expected[1]


def test_few_queries_run_few_wait_the_rest_is_turned_away_and_health_is_always_answered() -> None:
    engine, gate = Slow(), Gate(running=2, waiting=3)
    with serve(Window(), engines=engine, gate=gate) as ours, ThreadPoolExecutor(6) as pool:
        running = [pool.submit(ask(ours)) for _ in range(2)]
        until(lambda: len(engine.asked) == 2, within=10)
        impatient = ask(ours, timeout="0.05")()
        assert (impatient.status_code, impatient.json()["error"]) == (503, "query timed out in query queue")
        more = [pool.submit(ask(ours)) for _ in range(4)]
        turned_away = until(lambda: [one.result() for one in more if one.done()], within=10)
        assert [(one.status_code, one.json()["error"]) for one in turned_away] == [(503, "too many queries at once")]
        assert turned_away[0].json()["errorType"] == "unavailable"
        assert ours.get("/-/healthy").ok
        assert len(engine.asked) == 2
        engine.let_go.set()
        assert sorted(one.result().status_code for one in running + more) == [200] * 5 + [503]
    assert len(engine.asked) == 5


def test_a_page_of_federate_waits_for_its_turn_as_queries_do() -> None:
    engine, gate = Slow(), Gate(running=1, waiting=0)
    with serve(Window(), engines=engine, gate=gate) as ours, ThreadPoolExecutor(1) as pool:
        running = pool.submit(ask(ours))
        until(lambda: len(engine.asked) == 1, within=10)
        turned_away = ours.get("/federate", **{"match[]": "up"})
        assert (turned_away.status_code, turned_away.json()["error"]) == (503, "too many queries at once")
        engine.let_go.set()
        assert running.result().ok
        assert ours.get("/federate", **{"match[]": "up"}).ok


@pytest.mark.parametrize("path", ["/federate", "/api/v1/series", "/api/v1/labels", "/api/v1/label/a/values"])
def test_there_are_not_more_selectors_than_somebody_could_mean(path: str) -> None:
    with serve(full()) as ours:
        many = ours.get(path, **{"match[]": [f"a{number}" for number in range(MOST_SELECTORS + 1)]})
        same = ours.get(path, **{"match[]": ["up"] * (MOST_SELECTORS + 1)})
    assert (many.status_code, same.status_code) == (400, 200)
    assert "more than 1000 match[]" in many.text


def test_selectors_that_take_too_long_together_are_ended() -> None:
    assert list(in_time([(), ()], 60)) == [(), ()]
    with pytest.raises(ApiError, match="timed out"):
        list(in_time([()], -1))


def ask(ours: Served, **parameters: str) -> Callable[[], requests.Response]:
    return lambda: ours.get("/api/v1/query", query="up", **parameters)


def test_a_large_answer_arrives_whole() -> None:
    window = full()
    with serve(window) as ours:
        data = ours.data("/api/v1/query_range", query='{__name__=~".+"}', **STEPS)
    points = {len(one["values"]) for one in data["result"]}
    assert len(data["result"]) == 15
    assert points == {601, 150}


def test_a_defect_of_ours_is_an_internal_error_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with serve(Window(), engines=Slow()) as ours:
        reply = ours.get("/api/v1/query_range", query="up", **STEPS)
    assert (reply.status_code, reply.json()) == (
        500,
        {"status": "error", "errorType": "internal", "error": "internal error: NotImplementedError"},
    )
    assert [record.message for record in caplog.records if record.exc_info] == ["request failed"]
