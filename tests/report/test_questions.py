"""What is asked finds what the rules record, and what the history keeps."""

import re

import pytest

from monitor.config.history import HistoryConfig
from monitor.model.labels import METRIC_NAME, Labels
from monitor.promql import Engine, Vector, parse
from monitor.report.gather import Model
from monitor.report.questions import ALERTS, DAILY_PEAK, Distribution, Question
from monitor.storage.window import Window

AT = 1_793_577_600_000
# Two servers of two engines each; what is known of a server does not say of which model.
SERVER = (("a", "0", 1.5, 20_000), ("a", "1", 1.75, 30_000), ("b", "0", 2.5, 40_000))


@pytest.mark.parametrize("expr", [*Question, ALERTS, DAILY_PEAK, *Distribution])
def test_the_history_keeps_all_that_is_asked_for(expr: str) -> None:
    names = re.findall(r"vllm_engine:[\w:]+|ALERTS", expr)
    keep = HistoryConfig().keep()
    assert names
    assert all(keep.keeps(Labels.of({METRIC_NAME: name})) for name in names)


@pytest.mark.parametrize(
    ("question", "expected"),
    [(Question.CONCURRENCY, 1.5), (Question.KV_TOKENS, 20_000), (Question.MAX_MODEL_LEN, 4096)],
)
def test_what_is_known_of_servers_is_told_of_their_model(question: Question, expected: float) -> None:
    window = Window()
    block = window.block("everything")
    values: dict[Labels, float] = {}
    for instance, engine, concurrency, tokens in SERVER:
        here = {"job": "vllm", "instance": instance}
        for name, value in (("max_concurrency", concurrency), ("kv_cache_tokens", tokens)):
            values[Labels.of({METRIC_NAME: f"vllm_engine:{name}", "engine": engine, **here})] = value
        values[Labels.of({METRIC_NAME: "vllm_engine:max_model_len", **here})] = 4096
        for model in ("llama", "llama-lora"):
            running = {METRIC_NAME: "vllm_engine:requests_running", "engine": engine, "model_name": model, **here}
            if model == "llama" or instance == "a":
                values[Labels.of(running)] = 3
    block.append(AT, [block.column(labels) for labels in values], list(values.values()))
    found = Engine(window).instant(parse(question), AT).value
    assert isinstance(found, Vector)
    told = {Model(labels.value("job"), labels.value("model_name")): value for labels, value in found.samples}
    assert min(told.values()) == expected
    assert {model.job for model in told} == {"vllm"}
    assert Model("vllm", "llama") in told
