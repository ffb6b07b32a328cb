"""Whether a selector finds anything on a page, and what is said if not."""

import pytest

from monitor.sight.look import look
from monitor.vllm.families import Engine
from tests.scrape.pages import real_pages
from tests.sight.seeing import leaf, offered
from tests.vllm.pages import page

V33 = page("0.33.0")
RAY = page("0.33.0").replace("vllm:", "ray_vllm_")


@pytest.mark.parametrize(
    ("selector", "text", "version"),
    [
        ("vllm:num_requests_running", V33, "0.33.0"),
        ('vllm:num_requests_running{job="vllm", instance=~"gpu-.*"}', V33, "0.33.0"),
        ('up{job="vllm"}', V33, "0.33.0"),
        ('vllm:request_success_total{finished_reason="error"}', V33, "0.33.0"),
        ('vllm:time_to_first_token_seconds_bucket{le="2.5"}', V33, "0.33.0"),
        ('{__name__=~"vllm:.+", engine="0"}', V33, "0.33.0"),
        # A status that has not occurred may occur at any time.
        ('http_requests_total{status="5xx", handler!="/health"}', V33, "0.33.0"),
        ("ray_vllm_num_requests_running", RAY, "0.33.0"),
        ('vllm:num_requests_running{engine=""}', page("0.9.2", Engine.V0), "0.9.2"),
        ("vllm:iteration_tokens_total_bucket", real_pages()["vllm-0.9.0.1-idle"], ""),
    ],
)
def test_what_finds_something_or_may_is_not_blind(selector: str, text: str, version: str) -> None:
    assert look(leaf(selector), offered(text, version=version)) is None


@pytest.mark.parametrize(
    ("selector", "version", "reason", "sentence"),
    [
        (
            "vllm:gpu_cache_usage_perc",
            "0.33.0",
            "renamed",
            "`vllm:gpu_cache_usage_perc` left in 0.12.0; running 0.33.0; read `vllm:kv_cache_usage_perc`",
        ),
        (
            "vllm:gpu_cache_usage_perc",
            "0.11.2",
            "hidden",
            "hidden since 0.11.0 (--show-hidden-metrics-for-version); running 0.11.2; read `vllm:kv_cache_usage_perc`",
        ),
        (
            "vllm:kv_cache_usage_perc",
            "0.8.5",
            "renamed",
            "`vllm:kv_cache_usage_perc` is called `vllm:gpu_cache_usage_perc` here; running 0.8.5",
        ),
        (
            "vllm:prompt_tokens_recomputed_total",
            "0.20.2",
            "removed",
            "`vllm:prompt_tokens_recomputed_total` left in 0.20.0; running 0.20.2",
        ),
        (
            "vllm:num_requests_swapped",
            "0.8.5",
            "removed",
            "`vllm:num_requests_swapped` is of the V0 engine; running V1, 0.8.5",
        ),
        (
            "vllm:time_in_queue_requests_sum",
            "0.33.0",
            "renamed",
            "`vllm:time_in_queue_requests_sum` left in 0.9.1; running 0.33.0; read `vllm:request_queue_time_seconds`",
        ),
        (
            "vllm:admission_rejections_total",
            "0.20.2",
            "later",
            "`vllm:admission_rejections_total` comes with 0.32.0; running 0.20.2",
        ),
        (
            "vllm:spec_decode_num_draft_tokens_total",
            "0.33.0",
            "condition",
            "`vllm:spec_decode_num_draft_tokens_total` needs speculative decoding (--speculative-config)",
        ),
        ("vllm:lora_requests_info", "0.33.0", "condition", "`vllm:lora_requests_info` needs --enable-lora"),
        (
            "DCGM_FI_DEV_GPU_TEMP",
            "0.33.0",
            "condition",
            "`DCGM_FI_DEV_GPU_TEMP` needs a DCGM exporter that has it among the targets",
        ),
        (
            "vllm:request_error_total",
            "0.33.0",
            "unknown",
            'has `vllm:request_error_total`; did you mean `vllm:request_success_total{finished_reason="error"}`?',
        ),
        (
            "vllm:generation_tokens",
            "0.33.0",
            "unknown",
            "no vLLM version has `vllm:generation_tokens`; did you mean `vllm:generation_tokens_total`?",
        ),
        (
            "vllm:num_request_waiting",
            "0.33.0",
            "unknown",
            "no vLLM version has `vllm:num_request_waiting`; did you mean `vllm:num_requests_waiting`?",
        ),
        ("node_load1", "0.33.0", "missing", "no target offers `node_load1`"),
        (
            'vllm:time_to_first_token_seconds_bucket{le="0.3"}',
            "0.8.1",
            "bucket",
            "0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, +Inf",
        ),
        (
            'vllm:request_success_total{finished_reason="error"}',
            "0.9.2",
            "later",
            '`finished_reason="error"` of `vllm:request_success_total` comes with 0.13.0; running 0.9.2',
        ),
        (
            'vllm:request_success_total{finished_reason="failed"}',
            "0.9.2",
            "label",
            'never has `finished_reason="failed"`; finished_reason "stop", "length", "abort"',
        ),
        (
            'vllm:num_requests_running{pod="a"}',
            "0.33.0",
            "label",
            "`vllm:num_requests_running` has no label `pod`; it has engine, instance, job, model_name",
        ),
        (
            'vllm:num_requests_running{model_name="b"}',
            "0.33.0",
            "label",
            '`vllm:num_requests_running` has model_name "a-model" here, so that `model_name="b"` finds nothing',
        ),
        (
            'vllm:num_requests_running{job="inference"}',
            "0.33.0",
            "label",
            '`vllm:num_requests_running` has job "vllm" here, so that `job="inference"` finds nothing',
        ),
        (
            'vllm:request_prompt_tokens_bucket{le=~"20000|20000.0"}',
            "0.33.0",
            "condition",
            'ends at 5000 here: `le=~"20000|20000.0"` needs a larger --max-model-len',
        ),
        ('vllm:request_prompt_tokens_bucket{le="3000.0"}', "0.33.0", "bucket", "1000.0, 2000.0, 5000.0, +Inf"),
        ("ray_vllm_num_requests_running", "0.33.0", "prefix", "is called `vllm:num_requests_running` by this server"),
    ],
)
def test_what_is_said_of_a_server_of_the_v1_engine(selector: str, version: str, reason: str, sentence: str) -> None:
    found = look(leaf(selector), offered(page(version), version=version))
    assert found is not None
    assert found.reason.value == reason
    assert found.sentence.endswith(sentence)


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        ("vllm:inter_token_latency_seconds_bucket", "renamed"),
        ("vllm:kv_cache_usage_perc", "renamed"),
        ("vllm:prefix_cache_hits_total", "later"),
        ('vllm:num_requests_running{engine="0"}', "later"),
        ("vllm:spec_decode_num_draft_tokens_total", "condition"),
        ("http_requests_total", "condition"),
        ("process_start_time_seconds", "condition"),
    ],
)
def test_what_is_said_of_a_server_of_the_v0_engine(selector: str, reason: str) -> None:
    found = look(leaf(selector), offered(page("0.9.2", Engine.V0), version="0.9.2"))
    assert found is not None
    assert found.reason.value == reason


@pytest.mark.parametrize("metric", ["vllm:e2e_request_latency_seconds_bucket", "vllm:request_success_total"])
def test_the_v0_engine_shows_little_before_the_first_request(metric: str) -> None:
    found = look(leaf(metric), offered(page("0.9.2", Engine.V0, served=False), version="0.9.2"))
    assert found is not None
    assert found.sentence == f"`{metric}` has no value before the first request"


def test_what_left_the_v0_engine_before_the_v1_engine_is_a_matter_of_the_engine() -> None:
    found = look(leaf("vllm:spec_decode_num_draft_tokens_total"), offered(page("0.10.2", Engine.V0), version="0.10.2"))
    assert found is not None
    assert found.sentence.endswith("comes with the V1 engine; running V0, 0.10.2")


def test_two_api_servers_have_no_values_before_the_first_request() -> None:
    announced = "\n".join(line for line in V33.splitlines() if not line.startswith("vllm:num_requests"))
    found = look(leaf("vllm:num_requests_waiting"), offered(announced, version="0.33.0"))
    assert found is not None
    assert found.reason.value == "not_yet"


def test_an_edge_is_looked_up_in_the_table_before_the_first_request() -> None:
    announced = "\n".join(line for line in V33.splitlines() if not line.startswith("vllm:time_to_first_token"))
    edges = [("2.5", "not_yet"), ("0.3", "bucket")]
    for edge, reason in edges:
        selector = f'vllm:time_to_first_token_seconds_bucket{{le="{edge}"}}'
        found = look(leaf(selector), offered(announced, version="0.33.0"))
        assert found is not None
        assert found.reason.value == reason


@pytest.mark.parametrize("edges", [("abc", "NaN", ""), ("+Inf",), ("1", "abc", "+Inf")])
def test_an_edge_that_is_no_number_is_passed_over(edges: tuple[str, ...]) -> None:
    lines = [f'vllm:time_to_first_token_seconds_bucket{{le="{edge}"}} 1\n' for edge in edges]
    blind = look(leaf('vllm:time_to_first_token_seconds_bucket{le="2.5"}'), offered("".join(lines), version="0.33.0"))
    assert blind is not None
    assert str(blind.reason) == "bucket"


def test_a_server_without_stats_says_so() -> None:
    found = look(leaf("vllm:num_requests_waiting"), offered(page("0.33.0", stats=False), version="0.33.0"))
    assert found is not None
    assert found.sentence == "`vllm:num_requests_waiting`: the server shows nothing of its engine (--disable-log-stats)"


@pytest.mark.parametrize(
    ("selector", "reason"),
    [('{__name__=~"vllm:num_requests_.+"}', "stats_off"), ('{__name__=~"node_.+"}', "missing"), ('{x="y"}', "label")],
)
def test_a_selector_without_a_name_is_judged_by_what_could_have_one(selector: str, reason: str) -> None:
    found = look(leaf(selector), offered(page("0.33.0", stats=False), version="0.33.0"))
    assert found is not None
    assert found.reason.value == reason


def test_what_only_python_shows_is_explained_behind_the_rust_front_end() -> None:
    of_python = ("process_", "python_", "http_request_size", "http_response_size", "vllm:cache_config", "vllm:mm_cache")
    text = "\n".join(line for line in V33.splitlines() if not line.split(" ")[-2:][0].startswith(of_python))
    kept = "\n".join(line for line in text.splitlines() if not line.removeprefix("# TYPE ").startswith(of_python))
    found = look(leaf("vllm:cache_config_info"), offered(kept, version="0.33.0"))
    assert found is not None
    assert found.sentence == "`vllm:cache_config_info` needs the Python front-end"


def test_a_metric_that_should_be_there_is_missing_without_an_explanation() -> None:
    text = "\n".join(line for line in V33.splitlines() if "vllm:num_preemptions_total" not in line)
    found = look(leaf("vllm:num_preemptions_total"), offered(text, version="0.33.0"))
    assert found is not None
    assert not found.reason.explained
    assert found.sentence == "`vllm:num_preemptions_total` is not on the page, though 0.33.0 should have it"
