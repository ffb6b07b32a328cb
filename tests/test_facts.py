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


def probed(engine: dict[str, str], **labels: str) -> Window:
    """Return a window in which the probes and the page say what the KV cache of the engine is."""
    held, place = window(engine), {name: engine[name] for name in ("job", "instance", "engine")}
    rows = [
        ({"__name__": "vllm_monitor_target_kv_cache_tokens", **place}, 28_430.0),
        ({"__name__": "vllm_monitor_target_max_concurrency", **place}, 1.735),
        (
            {"__name__": "vllm_monitor_target_max_model_len", "job": "vllm", "instance": "a:1", "model_name": "l"},
            16384.0,
        ),
        ({"__name__": "vllm:cache_config_info", **place, "cache_dtype": "fp8", **labels}, 1.0),
    ]
    block = held.block("probe")
    block.append(10 * SECOND, [block.column(Labels.of(series)) for series, _ in rows], [value for _, value in rows])
    return held


def test_an_alert_on_the_cache_gets_what_its_engines_numbers_say_to_do() -> None:
    known = EngineFacts(Engine(probed(ENGINE, kv_cache_size_tokens="28430")))
    alert = Labels.of({**ENGINE, "alertname": "VLLMPreemptionsHigh"})
    # 28 requests in three samples that used 1.75 of the cache.
    assert known.at(alert, 10 * SECOND).advice == (
        (
            "9.33 requests run on average, 1,777 tokens each: 58 % of the KV cache (28,430 tokens, 1.74 requests of "
            "the full 16,384). 16 such requests fit."
        ),
        "More cache: it has 8 bits a number already.",
    )
    assert known.at(alert, 10 * SECOND).running == 4.0
    assert known.worst(alert, 0, 10 * SECOND).advice == ()
    # The rules on the capacity know no model.
    floor = Labels.of(job="vllm", instance="a:1", engine="0", alertname="VLLMMaxConcurrencyBelowFloor")
    assert known.at(floor, 10 * SECOND).advice[0].endswith("a request may have 16,384: 1.74 fit at once.")


def test_no_engine_speaks_for_another_and_no_alert_gets_what_it_is_not_about() -> None:
    both = probed(ENGINE)
    block = both.block("other")
    other = {"__name__": "vllm_monitor_target_kv_cache_tokens", "job": "vllm", "instance": "a:1", "engine": "1"}
    block.append(10 * SECOND, [block.column(Labels.of(other))], [14_000.0])
    known = EngineFacts(Engine(both))
    of_both = Labels.of(job="vllm", instance="a:1", alertname="VLLMMaxConcurrencyFell")
    assert known.at(of_both, 10 * SECOND).advice == ()
    assert known.at(Labels.of({**ENGINE, "alertname": "VLLMEngineStuck"}), 10 * SECOND).advice == ()
    assert known.at(Labels.of(alertname="VLLMKVCacheFull", job="vllm"), 10 * SECOND).advice == ()
    stingy = EngineFacts(Engine(probed(ENGINE), limits=Limits(samples=1)))
    assert stingy.at(Labels.of({**ENGINE, "alertname": "VLLMKVCacheFull"}), 10 * SECOND).advice == ()


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
