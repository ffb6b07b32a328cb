"""The ways to a number of requests at once: each one reaches it, and says what it costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.capacity.gpus import gpu
from monitor.capacity.models import model, names
from monitor.capacity.plan import Settings, Verdict, plan
from monitor.capacity.serve import serve_line
from monitor.capacity.solve import Question, solve
from tests.capacity.startups import L4, LLAMA, OUTAGE


def test_the_ways_from_one_and_a_half_to_two_and_a_half_on_the_l4_of_the_outage() -> None:
    answers = solve(Question(LLAMA, L4, Settings(16_384, 0.90), 2.5, OUTAGE))
    assert [answer.change for answer in answers] == [
        "--kv-cache-dtype fp8",
        "--max-model-len 11264",
        "--quantization fp8",
        "--quantization awq",
        "--tensor-parallel-size 2",
        "a V100-32GB",
        "an A100-40GB",
        "an L40S",
    ]


def test_a_little_more_is_a_matter_of_utilisation() -> None:
    first = solve(Question(LLAMA, L4, Settings(16_384, 0.90), 1.9, OUTAGE))[0]
    assert first.change == "--gpu-memory-utilization 0.92"


def test_where_no_single_change_is_enough_two_are_offered() -> None:
    # The largest GPUs, as many as are offered, weights already small, a context that cannot be shortened.
    settings = Settings(1024, 0.5, quantization="awq", tensor_parallel_size=16)
    here = gpu("MI300X")
    now = plan(LLAMA, here, settings).concurrency.likely
    answers = solve(Question(LLAMA, here, settings, 3 * now))
    assert [answer.change for answer in answers] == ["--kv-cache-dtype fp8 and --gpu-memory-utilization 0.75"]
    assert solve(Question(LLAMA, here, settings, 5 * now)) == []


@given(
    st.sampled_from(names()),
    st.sampled_from(["L4", "A100-80GB", "H200"]),
    st.integers(256, 2048),
    st.floats(0.5, 500),
)
def test_every_way_reaches_what_is_asked_and_starts(named: str, card: str, length: int, concurrency: float) -> None:
    for answer in solve(Question(model(named), gpu(card), Settings(length), concurrency)):
        assert answer.plan.concurrency.likely >= concurrency
        assert answer.plan.verdict is not Verdict.FAILS
        assert answer.cost


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (Settings(16_384), "vllm serve m --max-model-len 16384 --gpu-memory-utilization 0.92 --max-num-seqs 256"),
        (
            Settings(
                8192,
                0.9,
                "fp8",
                "awq",
                "half",
                2,
                3,
                4,
                64,
                2048,
                32,
                hybrid_kv_cache_manager=False,
                async_scheduling=False,
            ),
            (
                "vllm serve m --max-model-len 8192 --gpu-memory-utilization 0.9 --kv-cache-dtype fp8 "
                "--dtype half --quantization awq --tensor-parallel-size 2 --pipeline-parallel-size 3 "
                "--data-parallel-size 4 --max-num-seqs 64 --max-num-batched-tokens 2048 --block-size 32 "
                "--disable-hybrid-kv-cache-manager --no-async-scheduling"
            ),
        ),
    ],
)
def test_the_line_to_copy_has_every_flag(settings: Settings, line: str) -> None:
    assert serve_line("m", settings) == line


def test_a_name_with_a_space_does_not_break_the_line() -> None:
    assert serve_line("my model; rm -rf /", Settings(1)).startswith("vllm serve 'my model; rm -rf /' ")
