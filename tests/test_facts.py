"""The numbers that decide, from the recorded names in the window."""

from math import isnan

from monitor.facts import EngineFacts
from monitor.model.instant import MINUTE, SECOND
from monitor.model.labels import EMPTY, Labels
from monitor.notify.readings import NOTHING, Readings
from monitor.promql import Engine, Limits
from monitor.storage.window import Window

ENGINE = {"job": "vllm", "instance": "a:1", "model_name": 'llama "8b"\\{}', "engine": "0"}
NAMES = {
    "requests_running": [8.0, 16.0, 4.0],
    "requests_waiting": [0.0, 43.0, 7.0],
    "kv_cache_usage:ratio": [0.5, 1.0, 0.25],
    "preemptions:rate5m": [0.0, 0.1, 0.05],
    "generation_tokens:rate1m": [900.0, 1234.5, 100.0],
    "ttft_seconds:p95_5m": [0.25, 22.4, 3.0],
}
TIMES = [0, 5 * SECOND, 10 * SECOND]


def window(*engines: dict[str, str]) -> Window:
    held = Window()
    for engine in engines:
        block = held.block(tuple(engine.items()))
        columns = [block.column(Labels.of({"__name__": f"vllm_engine:{name}", **engine})) for name in NAMES]
        for number, at in enumerate(TIMES):
            block.append(at, columns, [values[number] for values in NAMES.values()])
    return held


def facts(*engines: dict[str, str]) -> EngineFacts:
    return EngineFacts(Engine(window(*engines)))


def test_the_numbers_are_those_of_the_engine_of_the_alert() -> None:
    other = ENGINE | {"instance": "b:1"}
    alert = Labels.of({**ENGINE, "alertname": "Anything", "severity": "critical"})
    assert facts(ENGINE, other).at(alert, 10 * SECOND) == Readings(4.0, 7.0, 0.25, 0.05, 100.0, 3.0)


def test_an_alert_on_several_engines_gets_their_sums_and_the_worst_of_what_has_no_sum() -> None:
    other = ENGINE | {"engine": "1"}
    alert = Labels.of({name: value for name, value in ENGINE.items() if name != "engine"})
    assert facts(ENGINE, other).at(alert, 10 * SECOND) == Readings(8.0, 14.0, 0.25, 0.1, 200.0, 3.0)


def test_the_worst_of_it_reaches_back_to_the_beginning() -> None:
    assert facts(ENGINE).worst(Labels.of(ENGINE), 0, 11 * SECOND) == Readings(16.0, 43.0, 1.0, 0.1, 1234.5, 22.4)
    assert facts(ENGINE).worst(Labels.of(ENGINE), 9 * SECOND, 11 * SECOND).waiting == 7.0


def test_what_nobody_knows_is_left_out() -> None:
    gone = facts(ENGINE).at(Labels.of(ENGINE), 10 * MINUTE)
    assert all(isnan(value) for value in (gone.running, gone.ttft))
    assert gone.words == NOTHING.words == ()
    assert Readings(waiting=3.0, kv_cache=0.987).words == ("3 waiting", "KV 99 %")


def test_an_alert_that_is_about_no_engine_has_no_numbers() -> None:
    assert facts(ENGINE).at(Labels.of(alertname="Watchdog"), 0) is NOTHING
    assert facts(ENGINE).worst(EMPTY, 0, SECOND) is NOTHING


def test_numbers_that_cost_too_much_are_left_out() -> None:
    stingy = EngineFacts(Engine(window(ENGINE), limits=Limits(samples=1)))
    assert stingy.worst(Labels.of(ENGINE), 0, 11 * SECOND) is NOTHING


def test_the_words_are_short() -> None:
    readings = Readings(9.0, 42.0, 0.987, 0.0533, 1234.5, 8.24)
    assert readings.words == (
        "9 running",
        "42 waiting",
        "KV 99 %",
        "3.2 preemptions/min",
        "1234 tokens/s",
        "p95 TTFT 8.2 s",
    )
