"""What the doctor and the gate make of a log: the words, the numbers, and the verdict."""

import pytest

from monitor.capacity.doctor import diagnosed
from monitor.capacity.gate import judged
from monitor.capacity.startup_reader import read

OUTAGE = (
    "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, "
    "which is larger than the available KV cache memory (3.47 GiB). Try increasing `gpu_memory_utilization` or …"
)
MEMORY = (
    "the current vLLM instance can use total_gpu_memory (22.05GiB) x gpu_memory_utilization (0.90) = 19.85GiB",
    (
        "model weights take 14.99GiB; non_torch_memory takes 0.12GiB; PyTorch activation peak memory takes 1.26GiB; "
        "the rest of the memory reserved for KV Cache is 3.47GiB."
    ),
)


def test_the_outage_is_explained_with_what_would_start() -> None:
    diagnosis = diagnosed(read([*MEMORY, OUTAGE]), 16_384)
    assert not diagnosis.healthy
    assert diagnosis.meaning == (
        "A context of 131,072 tokens does not fit into the KV cache: one request needs 16 GiB, 3.47 GiB are left; "
        "28,426 tokens would fit."
    )
    assert diagnosis.remedies == (
        "--max-model-len 28000: 1.0 requests at once (2.0 with --kv-cache-dtype fp8)",
        "--max-model-len 16384: 1.7 requests at once (3.5 with --kv-cache-dtype fp8)",
        "--max-model-len 8192: 3.5 requests at once (6.9 with --kv-cache-dtype fp8)",
        "--gpu-memory-utilization 0.95: 1.10 GiB more, if nothing else uses the GPU",
        "more GPUs (--tensor-parallel-size), or weights of fewer bits",
    )


def test_a_cache_of_8_bits_is_not_offered_to_whom_has_it() -> None:
    diagnosis = diagnosed(read(["Initializing a V1 LLM engine (v0.9.2) with config: kv_cache_dtype=fp8", OUTAGE]))
    assert diagnosis.remedies[0] == "--max-model-len 28000: 1.0 requests at once"


def test_sizes_that_are_printed_as_nothing_are_not_computed_with() -> None:
    line = (
        "ValueError: To serve at least one request with the model's max seq len (512), (0.0 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (0.0 GiB). Based on the available memory, the estimated "
        "maximum model length is 224."
    )
    override = "Overriding num_gpu_blocks=65536 with num_gpu_blocks_override=8"
    diagnosis = diagnosed(read([override, line]))
    assert diagnosis.meaning == "A context of 512 tokens does not fit into the KV cache; 224 tokens would fit."
    assert diagnosis.remedies[0] == "--max-model-len 224: 1.0 requests at once (2.0 with --kv-cache-dtype fp8)"
    assert diagnosis.remedies[-1] == "leave out --num-gpu-blocks-override: it keeps the cache at 8 blocks"


@pytest.mark.parametrize(
    ("lines", "meaning", "remedy"),
    [
        (
            [MEMORY[1], "No available memory for the cache blocks."],
            "there is no KV cache. The weights alone take 14.99 GiB.",
            "raise --gpu-memory-utilization",
        ),
        (
            ["(9.50/22.05 GiB) on startup is less than desired GPU memory utilization (0.9, 19.85 GiB)"],
            "Somebody else uses the GPU: 9.5 of 22.05 GiB are free, 19.85 GiB (0.9) are asked for.",
            "--gpu-memory-utilization 0.41 fits into what is free",
        ),
        (
            [
                (
                    "OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of "
                    "22.05 GiB of which 512.00 MiB is free."
                )
            ],
            "The GPU ran out of memory at the start: 0.88 GiB were asked for, 0.50 of 22.05 GiB were free.",
            "lower --gpu-memory-utilization by 0.05",
        ),
        (
            ["CUDA out of memory occurred when warming up sampler with 1024 dummy requests."],
            "when 1,024 requests were tried at once, which is --max-num-seqs",
            "--max-num-seqs 512",
        ),
        (
            ["Application startup complete.", "Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shutting"],
            "It started, and later: A worker process died (exit code -9: killed, most often by the kernel for want of",
            "look at dmesg",
        ),
        (["Timed out waiting for engine core processes to start. Waited 600s"], "within 600 s", "READY_TIMEOUT"),
        (["EngineCore failed to start."], "does not say why in a way that is known here (line 1)", "first traceback"),
    ],
)
def test_every_failure_has_a_meaning_and_something_to_try(lines: list[str], meaning: str, remedy: str) -> None:
    diagnosis = diagnosed(read(lines))
    assert not diagnosis.healthy
    assert meaning in diagnosis.meaning
    assert any(remedy in each for each in diagnosis.remedies)


@pytest.mark.parametrize(
    ("lines", "healthy", "meaning"),
    [
        (["hello"], False, "No line of this is one that a start of vLLM is known to write."),
        (["vLLM API server version 0.11.2"], False, "Nothing is wrong so far, and the server is not up."),
        (["Maximum concurrency for 512 tokens per request: 6.25x"], True, "the server is not up yet"),
        (["Application startup complete."], True, "does not say how many requests fit at once"),
        (["shutdown triggered"], False, "told to stop before it was up"),
    ],
)
def test_what_the_log_does_not_say_is_not_guessed(lines: list[str], healthy: bool, meaning: str) -> None:  # noqa: FBT001 - a table
    diagnosis = diagnosed(read(lines))
    assert diagnosis.healthy is healthy
    assert meaning in diagnosis.meaning


@pytest.mark.parametrize(
    ("engines", "passes", "known", "reason"),
    [
        ([], False, False, "the server does not say how many requests of full length fit at once"),
        ([("", 2.5)], True, True, "the engine holds 2.50 requests of full length at once, at least 2.5"),
        ([("", 2.49)], False, True, "the engine holds 2.49 requests of full length at once, less than 2.5"),
        # Engines share nothing: two halves are no whole.
        ([("0", 2.0), ("1", 6.0)], False, True, "engine 0 holds 2.00 requests of full length at once, less than 2.5"),
        ([("0", None), ("1", 6.0)], False, False, "engine 0 does not say how many requests fit at once"),
    ],
)
def test_the_gate_judges_each_engine_on_its_own(
    engines: list[tuple[str, float | None]],
    passes: bool,  # noqa: FBT001 - a table
    known: bool,  # noqa: FBT001 - the same
    reason: str,
) -> None:
    judgement = judged(engines, 2.5)
    assert (judgement.passes, judgement.known, judgement.reason) == (passes, known, reason)
    assert judgement.as_json()["min_concurrency"] == 2.5
