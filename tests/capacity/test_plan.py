"""The planner against the case it comes from, against public start-up logs, and against its own laws."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from monitor.capacity.explain import explained
from monitor.capacity.failure import CapacityError
from monitor.capacity.gpus import gpu
from monitor.capacity.layers import Architecture, Kind, Layers
from monitor.capacity.memory import GIB, Measured
from monitor.capacity.models import model, names
from monitor.capacity.plan import Plan, Settings, Verdict, plan

LLAMA = model("llama-3.1-8b")
L4 = gpu("L4")
# What the start-up log of the outage said: weights, activation and the rest, in GiB.
LOGGED = Measured(total=22.05, weights=14.99, other=0.12 + 1.26)


def pooled(named: str, gib: float, settings: Settings) -> Plan:
    """Plan with a cache of exactly so many GiB."""
    exact = replace(settings, gpu_memory_utilization=1.0)
    return plan(model(named), gpu(f"{gib}"), exact, Measured(total=gib, weights=0, other=0))


def test_the_outage_131072_tokens_do_not_fit_into_an_l4() -> None:
    planned = plan(LLAMA, L4, Settings(131_072, 0.90), LOGGED)
    assert planned.token_bytes == 131_072
    assert planned.verdict is Verdict.FAILS
    assert planned.pool_gib.likely == pytest.approx(3.475)
    assert planned.blocks_a_request * planned.cache.block_bytes == 16 * GIB


def test_the_outage_16384_tokens_fit_and_a_cache_of_8_bits_doubles_them() -> None:
    planned = plan(LLAMA, L4, Settings(16_384, 0.90), LOGGED)
    assert planned.verdict is Verdict.STARTS
    assert planned.tokens.likely == pytest.approx(28_430, rel=0.002)
    assert plan(LLAMA, L4, Settings(16_384, 0.90, "fp8"), LOGGED).tokens.likely == pytest.approx(2 * 28_430, rel=0.003)
    assert pooled("llama-3.1-8b", 3.6, Settings(16_384)).concurrency.likely == pytest.approx(1.8, abs=0.01)
    halved = pooled("llama-3.1-8b", 3.6, Settings(16_384, kv_cache_dtype="fp8"))
    assert halved.concurrency.likely == pytest.approx(3.6, abs=0.01)
    assert halved.tokens.likely == pytest.approx(58_982, rel=0.001)


@pytest.mark.parametrize(
    ("gib", "max_model_len", "logged_tokens", "logged_concurrency"),
    # vLLM issue 10517: Llama 3.1 8B on an RTX 3090. The log rounds GiB to two places.
    [(2.89, 29_000, 23_648, 0.82), (3.81, 20_000, 1952 * 16, 1.56)],
)
def test_public_logs_are_met_within_half_a_percent(
    gib: float, max_model_len: int, logged_tokens: int, logged_concurrency: float
) -> None:
    planned = pooled("llama-3.1-8b", gib, Settings(max_model_len))
    assert planned.blocks.likely * 16 == pytest.approx(logged_tokens, rel=0.005)
    assert planned.concurrency.likely == pytest.approx(logged_concurrency, abs=0.01)


@pytest.mark.parametrize(
    ("named", "blocks", "blocks_a_request", "concurrency"),
    [("gpt-oss-20b", 109_226, 9_225, 11.84), ("gemma-3-27b", 32_768, 14_726, 2.23)],
)
def test_layers_with_a_window_are_grouped_and_take_few_blocks(
    named: str, blocks: int, blocks_a_request: int, concurrency: float
) -> None:
    planned = pooled(named, 40, Settings(131_072))
    assert planned.blocks.likely == blocks
    assert planned.blocks_a_request == blocks_a_request
    assert planned.concurrency.likely == pytest.approx(concurrency, abs=0.01)


def test_without_the_manager_a_window_saves_nothing() -> None:
    with_it = pooled("gemma-3-27b", 40, Settings(131_072))
    without = pooled("gemma-3-27b", 40, Settings(131_072, hybrid_kv_cache_manager=False))
    assert with_it.token_bytes == 81_920
    assert without.token_bytes == 507_904
    assert without.concurrency.likely < with_it.concurrency.likely


def test_a_state_enlarges_the_block_and_costs_one_of_them() -> None:
    planned = pooled("nemotron-h-8b", 20, Settings(8192))
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
    requests = plan(LLAMA, L4, settings, LOGGED).requests
    assert requests is not None
    assert requests.likely == pytest.approx(1779 / 100)
    few = plan(LLAMA, L4, replace(settings, max_num_seqs=4), LOGGED).requests
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
    assert explained(plan(LLAMA, L4, Settings(16_384, 0.90), LOGGED)) == [
        "32 layers of full attention: 8 KV heads x 256 x 2 bytes = 4,096 bytes a token",
        "a token of context, over the layers that keep all of it: 131,072 bytes on a GPU",
        "KV cache of a GPU: 22.05 GiB x 0.9 - weights 14.99 - activations, CUDA and graphs 1.38 = 3.48 GiB",
        "blocks: 3.48 GiB / 2,097,152 bytes (2.00 MiB) = 1,779",
        "one request of 16,384 tokens takes 1,024 blocks of 16 tokens",
        "at once: 1,779 blocks / 1,024 = 1.74",
        "tokens in all: 1.74 x 16,384 = 28,464",
    ]


UNIFORM = [name for name in names() if not model(name).is_hybrid]
lengths = st.integers(min_value=64, max_value=2048)


@given(st.sampled_from(names()), lengths, st.floats(0.5, 0.99), st.floats(0, 0.01), st.integers(0, 64))
def test_more_memory_or_shorter_requests_never_give_fewer_at_once(
    named: str, length: int, utilisation: float, more: float, shorter: int
) -> None:
    here = gpu("MI300X")
    before = plan(model(named), here, Settings(length, utilisation)).concurrency
    roomier = plan(model(named), here, Settings(length, utilisation + more)).concurrency
    assert roomier.likely >= before.likely
    assert plan(model(named), here, Settings(max(1, length - shorter), utilisation)).concurrency.likely >= before.likely


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


def tiny(kv_heads: int, head_size: int) -> Architecture:
    """Return a two-layer Llama in 32 bits, like those of the recorded servers, which ran with `--dtype float32`."""
    return Architecture("tiny", (Layers(Kind.FULL, 2, kv_heads, head_size, head_size),), 1, 131_072, "float32")


def test_the_recorded_starts_have_the_blocks_that_vllm_logged_for_one_gib() -> None:
    settings = Settings(512, 1.0, block_size=32)
    planned = plan(tiny(2, 16), gpu("1"), settings, Measured(total=1, weights=0, other=0))
    # "Overriding num_gpu_blocks=65536 with num_gpu_blocks_override=100", and then 6.25 requests of 512 tokens.
    assert planned.blocks.likely == 65_536
    assert 100 / planned.blocks_a_request == 6.25
    failed = plan(tiny(32, 64), gpu("1"), Settings(131_072, 1.0), Measured(total=1, weights=0, other=0))
    # vLLM 0.11.2 said: 4.00 GiB needed, 1.00 GiB available, an estimated maximum model length of 32768.
    assert failed.verdict is Verdict.FAILS
    assert failed.blocks_a_request * failed.cache.block_bytes == 4 * GIB
    assert failed.tokens.likely == 32_768
