"""The engine counts what vLLM counts, when vLLM counts it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model.instant import MINUTE, SECOND
from monitor.simulator.script import Cost, Errors, Fault, Hang, Lengths, Phase, Server, exactly
from tests.simulator.reading import Reading, at, play, readings, value

LONG_CONTEXT = Server(max_model_len=131_072, num_gpu_blocks=4_097, max_num_batched_tokens=2_048)
ONE = Phase(at=0, duration=1, clients=1, prompt=exactly(64), output=exactly(100))


def test_one_request_is_counted_once_everywhere() -> None:
    simulator = play(ONE)
    assert at(simulator, MINUTE) == Reading(0, 0, 0, 0, 64, 100, 1, 1, 100)
    page = simulator.page()
    assert value(page, "vllm:request_success_total", finished_reason="length") == 1
    assert value(page, "vllm:inter_token_latency_seconds_count") == 99
    assert value(page, "vllm:prompt_tokens_by_source_total", source="local_compute") == 64
    assert value(page, "vllm:iteration_tokens_total_sum") == 164
    assert value(page, "http_requests_total", status="2xx") == 1


def test_the_times_of_a_request_add_up() -> None:
    simulator = play(replace(ONE, clients=40, prompt=Lengths(1, 200)))
    at(simulator, 5 * MINUTE)
    page = simulator.page()
    total = {
        name: value(page, f"vllm:{name}_seconds_sum")
        for name in ("e2e_request_latency", "request_queue_time", "request_inference_time")
    } | {name: value(page, f"vllm:request_{name}_time_seconds_sum") for name in ("prefill", "decode")}
    assert total["request_inference_time"] == pytest.approx(total["prefill"] + total["decode"])
    assert total["e2e_request_latency"] == pytest.approx(
        total["request_queue_time"] + total["request_inference_time"],
    )
    assert value(page, "vllm:time_to_first_token_seconds_sum") == pytest.approx(
        total["request_queue_time"] + total["prefill"],
    )


def test_first_tokens_are_seen_at_once_and_the_rest_only_at_the_end() -> None:
    simulator = play(replace(ONE, clients=4, output=exactly(400)))
    during = at(simulator, SECOND)
    assert (during.running, during.first_tokens, during.prompt_tokens, during.finished) == (4, 4, 256, 0)
    assert during.generation_tokens > 4
    assert value(simulator.page(), "vllm:request_queue_time_seconds_count") == 0
    assert at(simulator, MINUTE).finished == 4


def test_a_long_prefill_moves_the_kv_gauge_and_nothing_else() -> None:
    slow = replace(LONG_CONTEXT, cost=Cost(per_prefill_token=1.0))
    simulator = play(replace(ONE, prompt=exactly(60_000)), server=slow)
    during = list(readings(simulator, 55 * SECOND, step=5 * SECOND))
    assert [replace(row, kv=0) for row in during] == [replace(during[0], kv=0)] * len(during)
    assert during[0].running == 1
    assert [row.kv for row in during] == sorted({row.kv for row in during})
    assert at(simulator, 2 * MINUTE).prompt_tokens == 60_000


def test_the_kv_gauge_counts_blocks_in_use_of_all_but_the_null_block() -> None:
    # 64 tokens and the one that is being written: three blocks of 32.
    assert at(play(replace(ONE, output=exactly(20))), 100).kv == pytest.approx(3 / 99)


def test_the_latest_arrival_is_preempted_and_first_in_line() -> None:
    # Two requests of 12 blocks each into 19: the second must go, waits, and is computed again.
    server = Server(num_gpu_blocks=20, max_model_len=512)
    simulator = play(replace(ONE, clients=2, output=exactly(320)), server=server)
    rows = list(readings(simulator, 20 * SECOND, step=100))
    assert max(row.waiting for row in rows) == 1
    end, page = rows[-1], simulator.page()
    assert (end.finished, end.running, end.waiting) == (2, 0, 0)
    # Counted once, although parts were computed twice.
    assert (end.prompt_tokens, end.generation_tokens, end.first_tokens) == (128, 640, 2)
    assert end.preemptions >= 1
    assert value(page, "vllm:request_num_preemptions_sum") == end.preemptions
    # Only one of the two: the other was never a victim.
    assert value(page, "vllm:request_num_preemptions_bucket", le="1.0") >= 1
    assert value(page, "vllm:inter_token_latency_seconds_count") == 638


def test_v0_counts_a_recomputed_prompt_and_its_first_token_again() -> None:
    server = Server(version="0.9.0.1", v1=False, multiprocess=True, num_gpu_blocks=20)
    simulator = play(replace(ONE, clients=2, output=exactly(320)), server=server)
    simulator.advance(simulator.start + MINUTE)
    page = simulator.page()
    preemptions = value(page, "vllm:num_preemptions_total")
    assert preemptions >= 1
    assert value(page, "vllm:time_to_first_token_seconds_count") == 2 + preemptions
    assert value(page, "vllm:prompt_tokens_total") == 64 * (2 + preemptions)
    assert value(page, "vllm:request_success_total", finished_reason="length") == 2


def test_a_shared_prefix_is_computed_once_while_it_is_warm() -> None:
    phase = Phase(at=0, duration=20 * SECOND, clients=1, prompt=exactly(200), output=exactly(50), shared_prefix=128)
    simulator = play(phase)
    end = at(simulator, MINUTE)
    page = simulator.page()
    assert end.finished > 5
    assert value(page, "vllm:prefix_cache_queries_total") == 200 * end.finished
    assert value(page, "vllm:prefix_cache_hits_total") == 128 * (end.finished - 1)
    assert value(page, "vllm:prompt_tokens_by_source_total", source="local_cache_hit") == 128 * (end.finished - 1)
    assert value(page, "vllm:request_prefill_kv_computed_tokens_sum") == 200 * end.finished - 128 * (end.finished - 1)
    # Warm blocks are free blocks.
    assert end.kv == 0


def test_without_prefix_caching_nothing_is_looked_up() -> None:
    phase = Phase(at=0, duration=20 * SECOND, clients=1, prompt=exactly(200), output=exactly(50), shared_prefix=128)
    simulator = play(phase, server=Server(enable_prefix_caching=False))
    end = at(simulator, MINUTE)
    page = simulator.page()
    assert value(page, "vllm:prefix_cache_queries_total") == value(page, "vllm:prefix_cache_hits_total") == 0
    assert value(page, "vllm:request_prefill_kv_computed_tokens_sum") == end.prompt_tokens > 1000
    assert 'enable_prefix_caching="False"' in page


def test_a_full_pool_pushes_out_an_idle_prefix() -> None:
    crowd = Phase(at=10 * SECOND, duration=SECOND, clients=50, prompt=exactly(64), output=exactly(380))
    asks = [
        Phase(at=second * SECOND, duration=1, clients=1, prompt=exactly(200), output=exactly(20), shared_prefix=128)
        for second in (0, 5, 100)
    ]
    simulator = play(crowd, *asks)
    at(simulator, 3 * MINUTE)
    # The second found it, the third did not.
    assert value(simulator.page(), "vllm:prefix_cache_hits_total") == 128


def test_answers_that_end_by_themselves_are_stops() -> None:
    simulator = play(Phase(at=0, duration=30 * SECOND, clients=8, output=exactly(100), stops=1.0))
    end = at(simulator, MINUTE)
    page = simulator.page()
    length = value(page, "vllm:request_success_total", finished_reason="length")
    assert value(page, "vllm:request_success_total", finished_reason="stop") == end.finished - length
    assert length < 0.1 * end.finished
    assert value(page, "vllm:request_params_max_tokens_sum") == 100 * end.finished


def test_clients_that_give_up_are_counted_nowhere_but_as_2xx() -> None:
    simulator = play(replace(ONE, clients=24, output=exactly(400), timeout=2 * SECOND))
    assert at(simulator, 1_900).running > 0
    end = at(simulator, 3 * SECOND)
    page = simulator.page()
    assert (end.running, end.waiting, end.kv, end.finished) == (0, 0, 0, 0)
    assert value(page, "vllm:request_success_total", finished_reason="abort") == 0
    assert value(page, "http_requests_total", status="2xx") == 24
    assert end.first_tokens >= 16


def test_an_error_inside_the_engine_is_a_finished_reason_and_a_5xx() -> None:
    simulator = play(replace(ONE, clients=3), faults=(Errors(at=0, duration=MINUTE),))
    at(simulator, MINUTE)
    page = simulator.page()
    assert value(page, "vllm:request_success_total", finished_reason="error") == 3
    assert value(page, "http_requests_total", status="5xx") == 3


@pytest.mark.parametrize(
    ("server", "prompt", "output", "status"),
    [
        pytest.param(Server(), 600, 10, "4xx", id="a prompt beyond the context"),
        pytest.param(Server(), 400, 400, "2xx", id="0.32.0 shortens an answer that does not fit"),
        pytest.param(Server(version="0.11.2"), 400, 400, "4xx", id="0.11.2 refuses it"),
    ],
)
def test_what_does_not_fit_the_context(server: Server, prompt: int, output: int, status: str) -> None:
    simulator = play(replace(ONE, prompt=exactly(prompt), output=exactly(output)), server=server)
    end = at(simulator, MINUTE)
    assert value(simulator.page(), "http_requests_total", status=status) == 1
    # A refused request never reached the engine; a shortened answer fills the context.
    assert (end.prompt_tokens, end.generation_tokens) == ((400, 112) if status == "2xx" else (0, 0))


def test_the_queue_limit_counts_those_that_run_and_answers_503() -> None:
    simulator = play(replace(ONE, clients=40), server=Server(max_num_queued_reqs=29))
    assert at(simulator, SECOND).waiting == 29 - 16
    page = simulator.page()
    assert value(page, "vllm:admission_rejections_total", reason="max_num_queued_reqs") == 11
    assert value(page, "http_requests_total", status="5xx") == 11


def test_load_counts_what_the_gauges_do_not_see_yet() -> None:
    server = Server(enable_server_load_tracking=True)
    simulator = play(replace(ONE, clients=5), server=server, faults=(Hang(at=0, duration=MINUTE),))
    assert at(simulator, 10 * SECOND).running == 0
    assert simulator.answer("/load").body == '{"server_load": 5}'


def test_requests_go_to_the_engine_that_has_less_to_do() -> None:
    simulator = play(replace(ONE, clients=20, output=exactly(400)), server=Server(data_parallel_size=2))
    at(simulator, SECOND)
    for engine in ("0", "1"):
        assert value(simulator.page(), "vllm:num_requests_running", engine=engine) == 10


PHASES = st.builds(
    Phase,
    at=st.integers(0, 20_000),
    duration=st.integers(1, 20_000),
    clients=st.integers(0, 40),
    rate=st.sampled_from([0.0, 2.0, 20.0]),
    prompt=st.builds(lambda low, more: Lengths(low, low + more), st.integers(1, 300), st.integers(0, 300)),
    output=st.builds(lambda low, more: Lengths(low, low + more), st.integers(1, 300), st.integers(0, 100)),
    stops=st.sampled_from([0.0, 0.5]),
    shared_prefix=st.sampled_from([0, 64]),
    timeout=st.sampled_from([None, 3 * SECOND]),
)
HANGS = st.builds(Hang, at=st.integers(0, 30_000), duration=st.integers(1, 20_000))


@settings(max_examples=40, deadline=None)
@given(st.lists(PHASES, min_size=1, max_size=3), st.lists(HANGS, max_size=1), st.integers(20, 120))
def test_nothing_is_lost_and_nothing_is_left(phases: list[Phase], hangs: list[Fault], blocks: int) -> None:
    simulator = play(*phases, server=Server(num_gpu_blocks=blocks), faults=tuple(hangs))
    for row in readings(simulator, 40 * SECOND, step=4 * SECOND):
        assert 0 <= row.kv <= 1
        assert row.running <= 16
        assert row.finished <= row.first_tokens
    end = at(simulator, 3_600 * SECOND)
    page = simulator.page()
    assert (end.running, end.waiting, end.kv) == (0, 0, 0)
    assert value(page, "vllm:request_success_total") == end.finished
    gave_up = any(phase.timeout for phase in phases)
    if not gave_up:
        assert end.finished == end.first_tokens
        assert value(page, "vllm:request_prompt_tokens_sum") == end.prompt_tokens
        assert value(page, "vllm:request_num_preemptions_sum") == end.preemptions
        assert value(page, "vllm:request_generation_tokens_sum") == end.generation_tokens
        assert value(page, "vllm:inter_token_latency_seconds_count") == end.generation_tokens - end.finished
