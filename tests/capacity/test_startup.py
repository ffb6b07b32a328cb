"""What is read from start-up logs: every format of every version, line by line."""

from pathlib import Path

import pytest

from monitor.capacity.startup import Fact, Ill
from monitor.capacity.startup_reader import read

LOGS = Path(__file__).parents[1] / "data" / "startup"


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("Loading model weights took 14.9888 GB", {Fact.WEIGHTS_GIB: 14.9888}),
        (
            "Model loading took 14.9888 GB and 3.141593 seconds",
            {Fact.WEIGHTS_GIB: 14.9888, Fact.LOAD_SECONDS: 3.141593},
        ),
        ("Model loading took 14.9888 GiB and 3.14 seconds", {Fact.WEIGHTS_GIB: 14.9888, Fact.LOAD_SECONDS: 3.14}),
        (
            "Model loading took 14.9888 GiB memory and 3.14 seconds",
            {Fact.WEIGHTS_GIB: 14.9888, Fact.LOAD_SECONDS: 3.14},
        ),
        ("Model loading took 14.99 GiB memory and 3.14 seconds", {Fact.WEIGHTS_GIB: 14.99, Fact.LOAD_SECONDS: 3.14}),
        ("Loading weights took 12.34 seconds", {Fact.WEIGHTS_SECONDS: 12.34}),
        ("init engine (profile, create kv cache, warmup model) took 45.67 seconds", {Fact.INIT_SECONDS: 45.67}),
        ("init engine (profile, create kv cache, warmup model) took 45.67 s", {Fact.INIT_SECONDS: 45.67}),
        (
            "init engine (profile, create kv cache, warmup model) took 45.67 s (compilation: 20.12 s)",
            {Fact.INIT_SECONDS: 45.67, Fact.COMPILE_SECONDS: 20.12},
        ),
        (
            (
                "init engine (profile, create kv cache, warmup model) took 45.67 s (compilation: 20.12 s - "
                "language_model: 18.00 s, encoder: 2.12 s)"
            ),
            {Fact.INIT_SECONDS: 45.67, Fact.COMPILE_SECONDS: 20.12},
        ),
        ("torch.compile takes 20.12 s in total", {Fact.COMPILE_SECONDS: 20.12}),
        ("Graph capturing finished in 12 secs.", {Fact.CAPTURE_SECONDS: 12}),
        (
            "Graph capturing finished in 12 secs, took 0.35 GiB",
            {Fact.CAPTURE_SECONDS: 12, Fact.GRAPHS_GIB: 0.35},
        ),
        (
            "Auto-fit max_model_len: full model context length 16384 fits in available GPU memory",
            {Fact.MAX_MODEL_LEN: 16384},
        ),
        ("# GPU blocks: 1777, # CPU blocks: 2048", {Fact.BLOCKS: 1777}),
        ("# CUDA blocks: 1777, # CPU blocks: 2048", {Fact.BLOCKS: 1777}),
        ("# cuda blocks: 1777, # CPU blocks: 2048", {Fact.BLOCKS: 1777}),
        ("# GPU blocks: 1777", {Fact.BLOCKS: 1777}),
        ("Engine 000: vllm cache_config_info with initialization after num_gpu_blocks is: 1777", {Fact.BLOCKS: 1777}),
        ("2 Engines: vllm cache_config_info with initialization after num_gpu_blocks is: 1777", {Fact.BLOCKS: 1777}),
        ("Available KV cache memory: 3.47 GiB", {Fact.KV_GIB: 3.47}),
        ("Available KV cache memory: -0.52 GiB", {Fact.KV_GIB: -0.52}),
        (
            (
                "Memory profiling results: total_gpu_memory=22.05GiB initial_memory_usage=15.20GiB "
                "peak_torch_memory=16.25GiB memory_usage_post_profile=15.30GiB non_torch_memory=0.12GiB "
                "kv_cache_size=3.47GiB gpu_memory_utilization=0.90"
            ),
            {Fact.TOTAL_GIB: 22.05, Fact.NON_TORCH_GIB: 0.12, Fact.KV_GIB: 3.47, Fact.UTILISATION: 0.9},
        ),
        (
            "the current vLLM instance can use total_gpu_memory (22.05GiB) x gpu_memory_utilization (0.90) = 19.85GiB",
            {Fact.TOTAL_GIB: 22.05, Fact.UTILISATION: 0.9},
        ),
        (
            (
                "model weights take 14.99GiB; non_torch_memory takes 0.12GiB; PyTorch activation peak memory takes "
                "1.26GiB; the rest of the memory reserved for KV Cache is 3.47GiB."
            ),
            {Fact.WEIGHTS_GIB: 14.99, Fact.NON_TORCH_GIB: 0.12, Fact.ACTIVATION_GIB: 1.26, Fact.KV_GIB: 3.47},
        ),
        (
            (
                "Free memory on device (21.80/22.05 GiB) on startup. Desired GPU memory utilization is (0.9, 19.85 GiB). "
                "Actual usage is 14.99 GiB for weight, 1.26 GiB for peak activation, 0.12 GiB for non-torch memory, and "
                "0.35 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with `--kv-cache-memory=3725590528`"
            ),
            {
                Fact.FREE_GIB: 21.8,
                Fact.TOTAL_GIB: 22.05,
                Fact.UTILISATION: 0.9,
                Fact.WEIGHTS_GIB: 14.99,
                Fact.ACTIVATION_GIB: 1.26,
                Fact.NON_TORCH_GIB: 0.12,
                Fact.GRAPHS_GIB: 0.35,
            },
        ),
        (
            (
                "Free memory on device (21.80/22.05 GiB) on startup. Desired GPU memory utilization is (0.92, 20.29 GiB). "
                "Actual usage is 15.11 GiB for consumed memory (weights + non-torch), 1.26 GiB for peak activation, and "
                "0.35 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with `--kv-cache-memory=3725590528`"
            ),
            {
                Fact.FREE_GIB: 21.8,
                Fact.TOTAL_GIB: 22.05,
                Fact.UTILISATION: 0.92,
                Fact.ACTIVATION_GIB: 1.26,
                Fact.GRAPHS_GIB: 0.35,
            },
        ),
        (
            (
                "Initial free memory 21.80 GiB, reserved 3.47 GiB memory for KV Cache as specified by "
                "kv_cache_memory_bytes config and skipped memory profiling."
            ),
            {Fact.KV_GIB: 3.47},
        ),
        ("Estimated CUDA graph memory: 0.35 GiB total", {Fact.GRAPHS_GIB: 0.35}),
        ("Overriding num_gpu_blocks=65536 with num_gpu_blocks_override=100", {Fact.BLOCKS_OVERRIDE: 100}),
        ("Using max model len 16384", {Fact.MAX_MODEL_LEN: 16384}),
        (
            (
                "Auto-fit max_model_len: reduced from 131072 to 28416 to fit in available GPU memory (3.47 GiB available "
                "for KV cache)"
            ),
            {Fact.MAX_MODEL_LEN: 28416},
        ),
        (
            (
                "Initializing an LLM engine (v0.4.3) with config: model='m', dtype=torch.bfloat16, max_seq_len=16384, "
                "tensor_parallel_size=2, pipeline_parallel_size=1, kv_cache_dtype=fp8"
            ),
            {
                Fact.VERSION: "0.4.3",
                Fact.MODEL: "m",
                Fact.DTYPE: "bfloat16",
                Fact.MAX_MODEL_LEN: 16384,
                Fact.TENSOR_PARALLEL: 2,
                Fact.PIPELINE_PARALLEL: 1,
                Fact.KV_CACHE_DTYPE: "fp8",
            },
        ),
        ("Initializing a V0 LLM engine (v0.8.5) with config:", {Fact.ENGINE: "V0", Fact.VERSION: "0.8.5"}),
        ("Initializing a V1 LLM engine (v0.33.0) with config:", {Fact.ENGINE: "V1", Fact.VERSION: "0.33.0"}),
        ("vLLM API server version 0.11.2", {Fact.VERSION: "0.11.2"}),
    ],
)
def test_each_format_says_its_facts(line: str, facts: dict[Fact, str | float]) -> None:
    found = read([f"\x1b[1;36m(EngineCore_DP0 pid=1)\x1b[0;0m INFO 11-30 03:04:22 [x.py:1] {line}"])
    assert {fact: one.value for fact, one in found.facts.items()} == facts
    assert {one.line for one in found.facts.values()} == {1}


@pytest.mark.parametrize(
    ("lines", "tokens", "concurrency"),
    [
        (["Maximum concurrency for 16384 tokens per request: 1.73x"], None, 1.73),
        (["GPU KV cache size: 28,432 tokens", "Maximum concurrency for 16,384 tokens per request: 1.73x"], 28432, 1.73),
        (["GPU KV cache size: 28,432 tokens, Maximum concurrency for 16,384 tokens per request: 1.73x"], 28432, 1.73),
        (["XPU KV cache size: 28,432 tokens, Maximum concurrency for 16,384 tokens per request: 1.73x"], 28432, 1.73),
        (
            ["GPU + host KV cache size: 4,194,304 tokens, Maximum concurrency for 512 tokens per request: 8192.00x"],
            4194304,
            8192,
        ),
    ],
)
def test_each_format_says_what_fits(lines: list[str], tokens: float | None, concurrency: float) -> None:
    found = read(lines)
    assert found.tokens == tokens
    assert found.concurrency == concurrency


@pytest.mark.parametrize(
    ("line", "ill", "numbers"),
    [
        (
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when …",
            Ill.NO_KV,
            {},
        ),
        (
            (
                "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be "
                "stored in KV cache (28432). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when …"
            ),
            Ill.TOO_LONG,
            {"wanted": 131072, "fits": 28432},
        ),
        (
            (
                "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GB KV cache is "
                "needed, which is larger than the available KV cache memory (3.47 GB). Try increasing …"
            ),
            Ill.TOO_LONG,
            {"wanted": 131072, "needed_gib": 16, "available_gib": 3.47},
        ),
        (
            (
                "ValueError: To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is "
                "needed, which is larger than the available KV cache memory (3.47 GiB). Based on the available memory, the "
                "estimated maximum model length is 28416. Try increasing …"
            ),
            Ill.TOO_LONG,
            {"wanted": 131072, "needed_gib": 16, "available_gib": 3.47, "fits": 28416},
        ),
        (
            (
                "ValueError: Free memory on device (9.50/22.05 GiB) on startup is less than desired GPU memory "
                "utilization (0.9, 19.85 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
            ),
            Ill.NOT_FREE,
            {"free_gib": 9.5, "total_gib": 22.05, "utilisation": 0.9, "desired_gib": 19.85},
        ),
        (
            (
                "ValueError: Free memory on device cuda:0 (9.50/22.05 GiB) on startup is less than desired GPU memory "
                "utilization (0.92, 20.29 GiB). Decrease GPU memory utilization or reduce …"
            ),
            Ill.NOT_FREE,
            {"free_gib": 9.5, "total_gib": 22.05, "utilisation": 0.92, "desired_gib": 20.29},
        ),
        (
            (
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of "
                "22.05 GiB of which 512.00 MiB is free. Process 1 has 21.5 GiB memory in use."
            ),
            Ill.OUT_OF_MEMORY,
            {"tried": 896, "tried_unit": 1 / 1024, "gpu": 0, "total_gib": 22.05, "free": 512, "free_unit": 1 / 1024},
        ),
        (
            (
                "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacty "
                "of 22.05 GiB of which 0.50 GiB is free."
            ),
            Ill.OUT_OF_MEMORY,
            {"tried": 1.5, "tried_unit": 1, "gpu": 0, "total_gib": 22.05, "free": 0.5, "free_unit": 1},
        ),
        (
            "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try …",
            Ill.SAMPLER,
            {"requests": 1024},
        ),
        ("Worker proc VllmWorker-0 died unexpectedly, shutting down executor.", Ill.WORKER_DIED, {}),
        (
            "Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shutting down executor.",
            Ill.WORKER_DIED,
            {"exit_code": -9},
        ),
        (
            (
                "TimeoutError: Timed out waiting for engine core processes to start. Consider … Waited 600s (configured "
                "by VLLM_ENGINE_READY_TIMEOUT_S)."
            ),
            Ill.ENGINE_SLOW,
            {"seconds": 600},
        ),
        ("MulitprocExecutor got fatal signal from worker processes, shutting down.", Ill.WORKER_DIED, {}),
        ("EngineCore failed to start.", Ill.ENGINE_DIED, {}),
        ("EngineCore encountered a fatal error.", Ill.ENGINE_DIED, {}),
        ("EngineCore hit an exception: Traceback (most recent call last):", Ill.ENGINE_DIED, {}),
        ("Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.", Ill.ENGINE_DIED, {}),
        ("RuntimeError: Engine core process EngineCore_0 died unexpectedly.", Ill.ENGINE_DIED, {}),
        ("[shutdown] MPClient: engine core exited unexpectedly; starting cleanup", Ill.ENGINE_DIED, {}),
        ("AsyncEngineDeadError: Background loop has errored already.", Ill.ENGINE_DIED, {}),
        ("CRITICAL AsyncLLMEngine has failed, terminating server process", Ill.ENGINE_DIED, {}),
        ("CRITICAL MQLLMEngine is already dead, terminating server process", Ill.ENGINE_DIED, {}),
        ("RuntimeError('Engine process (pid 20589) died.')", Ill.ENGINE_DIED, {}),
    ],
)
def test_each_failure_is_known_with_its_numbers(line: str, ill: Ill, numbers: dict[str, float]) -> None:
    illness = read(["INFO before", line]).illness
    assert illness is not None
    assert (illness.ill, dict(illness.numbers), illness.line) == (ill, numbers, 2)


def test_the_cause_counts_wherever_it_stands_among_its_consequences() -> None:
    cause = "ValueError: No available memory for the cache blocks."
    consequence = "RuntimeError: Engine core initialization failed. See root cause above."
    for lines in ([cause, consequence], [consequence, cause]):
        illness = read(lines).illness
        assert illness is not None
        assert illness.ill is Ill.NO_KV


def test_of_several_ranks_the_one_that_limits_counts() -> None:
    found = read(
        [
            "Model loading took 7.50 GiB memory and 1.0 seconds",
            "Model loading took 7.60 GiB memory and 1.0 seconds",
            "Available KV cache memory: 3.50 GiB",
            "Available KV cache memory: 3.40 GiB",
            "(EngineCore_DP0 pid=1) KV cache size: 3,200 tokens, Maximum concurrency for 512 tokens per request: 6.25x",
            "(EngineCore_DP1 pid=2) KV cache size: 1,600 tokens, Maximum concurrency for 512 tokens per request: 3.12x",
        ]
    )
    assert found.number(Fact.WEIGHTS_GIB) == 7.6
    assert found.number(Fact.KV_GIB) == 3.4
    assert found.concurrency == 3.12
    assert found.tokens == 1600
