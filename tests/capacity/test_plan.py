"""The planner against the case it comes from, against public start-up logs, and against its own laws."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from monitor.capacity.explain import explained
from monitor.capacity.failure import CapacityError
from monitor.capacity.gpus import gpu
from monitor.capacity.memory import GIB
from monitor.capacity.models import model, names
from monitor.capacity.plan import Settings, Verdict, plan
from tests.capacity.startups import L4, LLAMA, OUTAGE, STARTS, Start, error, of_cache


def test_the_outage_131072_tokens_do_not_fit_into_an_l4() -> None:
    planned = plan(LLAMA, L4, Settings(131_072, 0.90), OUTAGE)
    assert planned.token_bytes == 131_072
    assert planned.verdict is Verdict.FAILS
    assert planned.pool_gib.likely == pytest.approx(3.475)
    assert planned.blocks_a_request * planned.cache.block_bytes == 16 * GIB


def test_the_outage_16384_tokens_fit_and_a_cache_of_8_bits_doubles_them() -> None:
    planned = plan(LLAMA, L4, Settings(16_384, 0.90), OUTAGE)
    assert planned.verdict is Verdict.STARTS
    assert planned.tokens.likely == pytest.approx(28_430, rel=0.002)
    assert plan(LLAMA, L4, Settings(16_384, 0.90, "fp8"), OUTAGE).tokens.likely == pytest.approx(2 * 28_430, rel=0.003)
    assert of_cache("llama-3.1-8b", 3.6, Settings(16_384)).concurrency.likely == pytest.approx(1.8, abs=0.01)
    halved = of_cache("llama-3.1-8b", 3.6, Settings(16_384, kv_cache_dtype="fp8"))
    assert halved.concurrency.likely == pytest.approx(3.6, abs=0.01)
    assert halved.tokens.likely == pytest.approx(58_982, rel=0.001)


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.what)
def test_what_was_logged_is_planned(start: Start) -> None:
    for unit, logged, number in start.said:
        assert abs(error(logged, number(start.planned))) <= start.within, unit


@pytest.mark.parametrize(
    ("named", "blocks", "blocks_a_request", "concurrency"),
    [("gpt-oss-20b", 109_226, 9_225, 11.84), ("gemma-3-27b", 32_768, 14_726, 2.23)],
)
def test_layers_with_a_window_are_grouped_and_take_few_blocks(
    named: str, blocks: int, blocks_a_request: int, concurrency: float
) -> None:
    planned = of_cache(named, 40, Settings(131_072))
    assert planned.blocks.likely == blocks
    assert planned.blocks_a_request == blocks_a_request
    assert planned.concurrency.likely == pytest.approx(concurrency, abs=0.01)


def test_without_the_manager_a_window_saves_nothing() -> None:
    with_it = of_cache("gemma-3-27b", 40, Settings(131_072))
    without = of_cache("gemma-3-27b", 40, Settings(131_072, hybrid_kv_cache_manager=False))
    assert with_it.token_bytes == 81_920
    assert without.token_bytes == 507_904
    assert without.concurrency.likely < with_it.concurrency.likely


def test_a_state_enlarges_the_block_and_costs_one_of_them() -> None:
    planned = of_cache("nemotron-h-8b", 20, Settings(8192))
    # 4 layers attend and 24 keep a state of 2,158,592 bytes: as much as 527 tokens of 4,096 bytes, in steps of 16.
    assert planned.cache.block_size == 528
    assert planned.token_bytes == 16_384
    assert planned.blocks_a_request == -(-8192 // 528) + 6


@pytest.mark.parametrize(
    ("tensor", "bytes_a_token"), [(1, 131_072), (2, 65_536), (8, 16_384), (16, 16_384), (32, 16_384)]
)
def test_more_gpus_than_heads_hold_copies(tensor: int, bytes_a_token: int) -> None:
    planned = plan(LLAMA, gpu("H100"), Settings(16_384, tensor_parallel_size=tensor))
    assert planned.token_bytes == bytes_a_token


def test_a_latent_vector_is_whole_on_every_gpu() -> None:
    deepseek = model("deepseek-v3")
    assert plan(deepseek, gpu("H200"), Settings(16_384, tensor_parallel_size=8)).token_bytes == 70_272


def test_the_requests_of_given_lengths_are_more_and_no_more_than_max_num_seqs() -> None:
    settings = Settings(16_384, 0.90, lengths={1600: 1.0})
    requests = plan(LLAMA, L4, settings, OUTAGE).requests
    assert requests is not None
    assert requests.likely == pytest.approx(1779 / 100)
    few = plan(LLAMA, L4, replace(settings, max_num_seqs=4), OUTAGE).requests
    assert few is not None
    assert few.likely == 4


def test_everything_that_contradicts_itself_is_said_at_once() -> None:
    with pytest.raises(CapacityError) as caught:
        plan(LLAMA, L4, Settings(500_000, 90, tensor_parallel_size=3, max_num_seqs=0, lengths={600_000: 1, 5: -1}))
    assert str(caught.value).splitlines() == [
        "--max-num-seqs 0 is not a positive number",
        "--gpu-memory-utilization 90 is not a ratio above 0, up to 1",
        "a request of 600000 tokens does not fit into --max-model-len 500000",
        "the share of a length is a number above 0",
        "--max-model-len 500000 is more than the 131072 positions that llama-3.1-8b was made for",
        "--tensor-parallel-size 3 does not divide the 32 attention heads of llama-3.1-8b",
    ]


def test_every_number_has_its_formula() -> None:
    assert explained(plan(LLAMA, L4, Settings(16_384, 0.90), OUTAGE)) == [
        "32 layers of full attention: 8 KV heads x 256 x 2 bytes = 4,096 bytes a token",
        "a token of context, over the layers that keep all of it: 131,072 bytes on a GPU",
        "a GPU has 22.05 GiB: from a start-up log",
        "weights: 14.99 GiB on a GPU, as a start-up log has them",
        "activations, CUDA and graphs: 1.38 GiB, known",
        "KV cache of a GPU: 22.05 GiB x 0.9 - weights 14.99 - activations, CUDA and graphs 1.38 = 3.48 GiB",
        "blocks: 3.48 GiB / 2,097,152 bytes (2.00 MiB) = 1,779",
        "one request of 16,384 tokens takes 1,024 blocks of 16 tokens",
        "at once: 1,779 blocks / 1,024 = 1.74",
        "tokens in all: 1.74 x 16,384 = 28,464",
    ]


LOGS = Path(__file__).parents[1] / "data" / "startup"
UNIFORM = [name for name in names() if not model(name).is_hybrid]
lengths = st.integers(min_value=64, max_value=2048)


def test_what_is_guessed_is_told_with_where_it_is_from() -> None:
    lines = explained(plan(LLAMA, L4, Settings(16_384, 0.90, tensor_parallel_size=2, lengths={4000: 0.7, 12_000: 0.3})))
    assert lines[2:5] == [
        "a GPU has 22.05 (21.75 to 22.35) GiB: a start-up log",
        "weights: 8,030,261,248 parameters x 2 bytes (bfloat16) / 2 GPUs = 7.48 GiB on a GPU",
        "activations, CUDA and graphs: 1.40 (0.90 to 3.00) GiB, a guess until a start-up log or --reserve-gib says it",
    ]
    assert lines[-1].startswith(
        "requests of the given lengths (0.7 of 4,000, 0.3 of 12,000), which take 400 blocks on average, at most 256: "
    )
    quantised = explained(plan(model("gpt-oss-20b"), L4, Settings(16_384)))
    assert "weights: 13,761,300,984 bytes = 12.82 GiB on a GPU" in quantised


Knob = tuple[str, Any, Any]
# What is turned, from a value to one that gives no fewer requests of full length at once.
KNOBS: Sequence[Knob] = (
    ("gpu_memory_utilization", 0.8, 0.81),
    ("gpu_memory_utilization", 0.5, 0.99),
    ("kv_cache_dtype", "float32", "bfloat16"),
    ("kv_cache_dtype", "bfloat16", "fp8"),
    ("quantization", "float32", "bfloat16"),
    ("quantization", "bfloat16", "fp8"),
    ("quantization", "fp8", "awq"),
    ("dtype", "float32", "float16"),
    ("tensor_parallel_size", 1, 2),
    ("tensor_parallel_size", 2, 8),
    ("data_parallel_size", 1, 4),
    ("max_num_seqs", 1, 256),
    ("max_num_batched_tokens", 16_384, 8192),
    ("max_num_batched_tokens", 8192, 512),
    ("async_scheduling", True, False),
)


@pytest.mark.parametrize("knob", KNOBS, ids=lambda knob: f"{knob[0]} {knob[1]} to {knob[2]}")
@given(named=st.sampled_from(names()), length=lengths)
@settings(max_examples=20)
def test_a_knob_that_is_turned_up_never_gives_fewer_at_once(knob: Knob, named: str, length: int) -> None:
    found, (name, low, high) = model(named), knob
    assume(name != "tensor_parallel_size" or not found.attention_heads % 8)
    asked = Settings(length, max_num_batched_tokens=1024, lengths={length: 0.5, max(1, length // 2): 0.5})
    before, after = (plan(found, gpu("MI300X"), replace(asked, **{name: value})) for value in (low, high))
    assert after.concurrency.likely >= before.concurrency.likely
    assert before.requests is not None
    assert after.requests is not None
    assert after.requests.likely >= before.requests.likely


@given(st.sampled_from(names()), lengths, st.integers(0, 64), st.floats(0, 50))
def test_shorter_requests_and_larger_gpus_never_give_fewer_at_once(
    named: str, length: int, shorter: int, more: float
) -> None:
    found = model(named)
    before = plan(found, gpu("150"), Settings(length)).concurrency.likely
    assert plan(found, gpu("150"), Settings(max(1, length - shorter))).concurrency.likely >= before
    assert plan(found, gpu(f"{150 + more}"), Settings(length)).concurrency.likely >= before


@given(st.sampled_from(UNIFORM), lengths, st.sampled_from([2, 4]))
def test_more_stages_of_a_pipeline_never_give_fewer_at_once(named: str, length: int, stages: int) -> None:
    found = model(named)
    assume(all(not layers.window for layers in found.layers))
    alone = plan(found, gpu("MI300X"), Settings(length)).concurrency.likely
    assert plan(found, gpu("MI300X"), Settings(length, pipeline_parallel_size=stages)).concurrency.likely >= alone


@given(st.sampled_from(names()), lengths, st.sampled_from([2, 4, 8]))
def test_more_gpus_never_raise_the_bytes_a_token(named: str, length: int, tensor: int) -> None:
    found = model(named)
    assume(not found.attention_heads % tensor)
    alone = plan(found, gpu("B200"), Settings(length))
    assert plan(found, gpu("B200"), Settings(length, tensor_parallel_size=tensor)).token_bytes <= alone.token_bytes


@given(st.sampled_from(UNIFORM), lengths)
def test_a_cache_of_8_bits_takes_exactly_half(named: str, length: int) -> None:
    plain = plan(model(named), gpu("B200"), Settings(length, kv_cache_dtype="bfloat16"))
    halved = plan(model(named), gpu("B200"), Settings(length, kv_cache_dtype="fp8"))
    assert halved.token_bytes * 2 == plain.token_bytes
    assert halved.cache.block_bytes * 2 == plain.cache.block_bytes


def test_the_blocks_of_the_recorded_starts_are_those_of_their_logs() -> None:
    for version, had in (("0.9.0.1", 131_072), ("0.11.2", 65_536), ("0.32.0", 65_536)):
        assert f"Overriding num_gpu_blocks={had} with" in (LOGS / f"vllm-{version}-startup.log").read_text()
