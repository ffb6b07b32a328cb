"""A simulated page has the families, types and labels of the recorded page of that version."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.model.instant import MINUTE, SECOND
from monitor.simulator.page import number
from monitor.simulator.script import Phase, Scenario, Server, exactly
from monitor.simulator.simulator import Simulator

RECORDED = Path(__file__).parent.parent / "data" / "simulator"

V1 = Server()
OLDER = Server(version="0.11.2")
V0 = Server(version="0.9.0.1", v1=False, multiprocess=True, num_gpu_blocks=200, block_size=16)
TWO_ENGINES = Server(data_parallel_size=2)
TWO_FRONTS = Server(multiprocess=True)

# Requests that somebody sent to the recorded 0.11.2 server by hand.
BY_HAND = re.compile(r'handler="(?!/v1/completions")|status="4xx"')


def recorded(name: str) -> str:
    return gzip.decompress((RECORDED / f"vllm-{name}.txt.gz").read_bytes()).decode()


def simulated(server: Server, *, loaded: bool) -> str:
    phase = Phase(at=0, duration=MINUTE, clients=50, prompt=exactly(64), output=exactly(380))
    simulator = Simulator(Scenario("page", MINUTE, server, (phase,) if loaded else ()))
    simulator.advance(simulator.start + 40 * SECOND)
    return simulator.page()


def types(page: str) -> list[tuple[str, str]]:
    return sorted(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE))


def series(page: str) -> list[str]:
    lines = [line.rpartition(" ")[0] for line in page.splitlines() if not line.startswith("#")]
    return sorted(line for line in lines if not BY_HAND.search(line))


@pytest.mark.parametrize(
    ("server", "name"),
    [
        pytest.param(V1, "0.32.0-idle", id="0.32.0 idle"),
        pytest.param(V1, "0.32.0-overload", id="0.32.0 loaded"),
        pytest.param(OLDER, "0.11.2-idle", id="0.11.2 idle"),
        pytest.param(OLDER, "0.11.2-overload", id="0.11.2 loaded"),
        pytest.param(V0, "0.9.0.1-idle", id="0.9.0.1 idle"),
        pytest.param(V0, "0.9.0.1-overload", id="0.9.0.1 loaded"),
        pytest.param(TWO_ENGINES, "0.32.0-data-parallel-2-idle", id="two engines idle"),
        pytest.param(TWO_ENGINES, "0.32.0-data-parallel-2-overload", id="two engines loaded"),
        pytest.param(TWO_FRONTS, "0.32.0-two-api-servers-overload", id="two API servers loaded"),
    ],
)
def test_the_page_has_every_family_type_and_label_of_the_recorded_one(server: Server, name: str) -> None:
    ours, theirs = simulated(server, loaded="overload" in name), recorded(name)
    assert types(ours) == types(theirs)
    assert series(ours) == series(theirs)


def test_the_families_come_in_the_order_of_the_recorded_page() -> None:
    order = re.compile(r"^# TYPE (\S+)", re.MULTILINE)
    assert order.findall(simulated(V1, loaded=True)) == order.findall(recorded("0.32.0-overload"))


def test_no_help_text_is_empty() -> None:
    helps = re.findall(r"^# HELP \S+ ?(.*)$", simulated(V1, loaded=True), re.MULTILINE)
    assert helps
    assert all(helps)


@pytest.mark.parametrize("server", [V1, OLDER, V0, TWO_ENGINES], ids=["0.32.0", "0.11.2", "0.9.0.1", "two engines"])
def test_the_histograms_of_a_page_add_up(server: Server) -> None:
    checked = 0
    for family in text_string_to_metric_families(simulated(server, loaded=True)):
        if family.type != "histogram":
            continue
        buckets = [sample for sample in family.samples if sample.name.endswith("_bucket")]
        counts = [sample.value for sample in family.samples if sample.name.endswith("_count")]
        last = [sample.value for sample in buckets if sample.labels["le"] == "+Inf"]
        assert last == counts
        for child in {sample.labels.get("engine") for sample in buckets}:
            values = [sample.value for sample in buckets if sample.labels.get("engine") == child]
            assert values == sorted(values), family.name
        checked += 1
    assert checked > 10


@pytest.mark.parametrize(
    ("version", "there", "gone"),
    [
        ("0.9.2", ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"], ["vllm:inter_token_latency_seconds"]),
        ("0.10.2", ["vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"], []),
        ("0.14.1", ["vllm:kv_cache_usage_perc"], ["vllm:gpu_cache_usage_perc", "vllm:time_per_output_token_seconds"]),
        ("0.23.1", ["vllm:cache_config_info"], ["vllm:request_num_preemptions"]),
        ("0.24.0", ["vllm:prompt_tokens_by_source_total"], ["vllm:admission_rejections_total"]),
    ],
)
def test_a_version_between_the_recorded_ones_has_the_names_of_its_time(
    version: str, there: list[str], gone: list[str]
) -> None:
    names = {name for name, _ in types(simulated(Server(version=version), loaded=False))}
    assert names.issuperset(there)
    assert names.isdisjoint(gone)


def test_capacity_labels_follow_the_settings() -> None:
    page = simulated(Server(num_gpu_blocks=201, data_parallel_size=2), loaded=False)
    info = [line for line in page.splitlines() if line.startswith("vllm:cache_config_info{")]
    assert len(info) == 2
    for line in info:
        # As recorded: the blocks are the sum over the engines, the other two are of one engine.
        assert 'num_gpu_blocks="402"' in line
        assert 'kv_cache_size_tokens="6432"' in line
        assert 'kv_cache_max_concurrency="12.5625"' in line


def test_without_log_stats_no_vllm_line_is_left() -> None:
    page = simulated(replace(V1, disable_log_stats=True), loaded=True)
    assert "vllm:" not in page
    assert 'http_requests_total{handler="/v1/completions",method="POST",status="2xx"}' in page


@given(st.floats(min_value=0, allow_nan=False) | st.integers(min_value=0, max_value=2**53).map(float))
def test_numbers_are_written_as_prometheus_client_writes_them(value: float) -> None:
    registry = CollectorRegistry()
    Gauge("written", "", registry=registry).set(value)
    assert f"written {number(value)}\n" in generate_latest(registry).decode()


def test_two_api_servers_have_no_gauge_before_the_first_request() -> None:
    page = simulated(TWO_FRONTS, loaded=False)
    for name in ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"):
        assert f"# TYPE vllm:{name} gauge" in page
        assert f"\nvllm:{name}{{" not in page


@pytest.mark.parametrize("prefix", ["ray_vllm_", "kserve_vllm:"])
def test_a_platform_renames_everything_of_the_engine(prefix: str) -> None:
    page = simulated(replace(V1, metric_prefix=prefix), loaded=True)
    assert f'\n{prefix}num_requests_running{{engine="0",model_name="tiny-llama"}}' in page
    assert "\nvllm:" not in page
    assert "\nhttp_requests_total" in page


def test_adapters_in_use_are_told_with_the_time_at_which_they_were() -> None:
    phases = tuple(Phase(at * SECOND, 10 * SECOND, clients=1, lora=name) for at, name in ((0, "a"), (5, "b")))
    simulator = Simulator(Scenario("lora", MINUTE, replace(V1, max_loras=2), phases))
    simulator.advance(simulator.start + 8 * SECOND)
    sets = re.findall(r'lora_requests_info\{max_lora="2",running_lora_adapters="([a-z,]*)"', simulator.page())
    assert set(sets) >= {"a", "a,b"}
