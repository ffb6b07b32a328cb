"""Whole start-up logs: those of real servers, of starts that failed or came again, and what no server writes."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.capacity.startup import Fact, Ill
from monitor.capacity.startup_reader import StartupReader, read

LOGS = Path(__file__).parents[1] / "data" / "startup"


# What the servers' own metrics said: num_gpu_blocks x block_size, and kv_cache_max_concurrency of 0.32.0.
@pytest.mark.parametrize(
    ("log", "version", "engine", "block_size", "engines", "concurrency"),
    [
        ("vllm-0.9.0.1-startup.log", "0.9.0.1", "V0", 16, 1, 200 * 16 / 512),
        ("vllm-0.11.2-startup.log", "0.11.2", "V1", 32, 1, 100 * 32 / 512),
        ("vllm-0.32.0-startup.log", "0.32.0", "V1", 32, 1, 6.25),
        ("vllm-0.32.0-startup-dp2.log", "0.32.0", "V1", 32, 2, 6.25),
    ],
)
def test_the_log_of_a_real_server_says_what_its_metrics_say(
    log: str, version: str, engine: str, block_size: float, engines: int, concurrency: float
) -> None:
    found = read((LOGS / log).read_text(errors="replace").splitlines())
    assert found.text(Fact.VERSION) == version
    assert found.text(Fact.ENGINE) == engine
    assert found.number(Fact.BLOCK_SIZE) == block_size
    assert found.number(Fact.MAX_MODEL_LEN) == 512
    assert len(found.engines) == engines
    assert found.concurrency == concurrency
    assert found.tokens == (None if engine == "V0" else 3200)
    assert found.ready
    assert found.illness is None


@pytest.mark.parametrize(
    ("log", "numbers"),
    [
        ("vllm-0.9.0.1-failed-start-maxlen.log", {"wanted": 131072, "fits": 32768}),
        (
            "vllm-0.11.2-failed-start-maxlen.log",
            {"wanted": 131072, "needed_gib": 4, "available_gib": 1, "fits": 32768},
        ),
        (
            "vllm-0.32.0-failed-start-maxlen.log",
            {"wanted": 131072, "needed_gib": 4, "available_gib": 1, "fits": 32640},
        ),
        (
            "vllm-0.32.0-failed-start-override-too-small.log",
            {"wanted": 512, "needed_gib": 0, "available_gib": 0, "fits": 224},
        ),
    ],
)
def test_the_log_of_a_start_that_failed_says_why(log: str, numbers: dict[str, float]) -> None:
    found = read((LOGS / log).read_text(errors="replace").splitlines())
    assert found.illness is not None
    assert found.illness.ill is Ill.TOO_LONG
    assert dict(found.illness.numbers) == numbers
    assert not found.ready


BANNER = "INFO 11-30 03:0{}:00 [api_server.py:1289] vLLM API server version 0.9.{}"
NO_CACHE = "ValueError: No available memory for the cache blocks."


@pytest.mark.parametrize(
    ("lines", "starts", "version", "ill"),
    [
        ([BANNER.format(0, 0), NO_CACHE, BANNER.format(5, 1), "Application startup complete."], 2, "0.9.1", None),
        # Killed before it had said what was wrong.
        (
            [BANNER.format(0, 0), "Available KV cache memory: 1.00 GiB", BANNER.format(5, 1), NO_CACHE],
            2,
            "0.9.1",
            Ill.NO_KV,
        ),
        ([BANNER.format(0, 0), "(APIServer pid=1) █  version 0.9.0", NO_CACHE], 1, "0.9.0", Ill.NO_KV),
    ],
)
def test_of_a_container_that_started_again_the_last_start_counts(
    lines: list[str], starts: int, version: str, ill: Ill | None
) -> None:
    found = read(lines)
    assert (found.starts, found.text(Fact.VERSION)) == (starts, version)
    assert (found.illness.ill if found.illness else None) is ill
    assert found.number(Fact.KV_GIB) is None
    assert found.lines == len(lines)


def test_a_start_takes_as_long_as_its_lines_say() -> None:
    lines = ["INFO 12-31 23:59:50 [a.py:1] x", "INFO 12-31 23:59:58 [a.py:1] y", "Application startup complete."]
    served = "INFO 12-31 23:59:59 [a.py:1] z"
    assert read([*lines, served]).number(Fact.START_SECONDS) == 8
    assert read(["INFO 12-31 23:59:50 [a.py:1] x", "INFO 01-01 00:00:10 [a.py:1] y"]).number(Fact.START_SECONDS) is None
    assert read(["INFO 99-99 99:99:99 [a.py:1] x"]).number(Fact.START_SECONDS) is None


def test_what_a_server_writes_while_it_is_stopped_is_no_failure() -> None:
    end = ["INFO: [shutdown] API server: shutdown triggered", "EngineDeadError: EngineCore encountered an issue."]
    assert read(end).illness is None
    assert read(reversed(end)).illness is not None


@given(st.lists(st.text()))
def test_no_text_is_more_than_a_text(lines: list[str]) -> None:
    reader = StartupReader()
    for line in lines:
        reader.feed(line)
    assert reader.startup().lines == len(lines)


@pytest.mark.parametrize(
    "line",
    [
        "KV cache size: , tokens",
        "KV cache size: ,,, tokens",
        f"KV cache size: {'9' * 400} tokens",
        f"Maximum concurrency for 16,384 tokens per request: {'9' * 400}x",
        f"Available KV cache memory: {'9' * 19}.0 GiB",
        f"(EngineCore_DP0 pid=1) max_seq_len={'9' * 400}",
        f"Avg prompt throughput: 1.2.3 tokens/s, Running: {'9' * 400} reqs, GPU KV cache usage: 9.9.9%",
        f"Engine {'9' * 5_000}: Avg prompt throughput: 1.0 tokens/s",
        f"max seq len ({'9' * 400}) is larger than the maximum number of tokens that can be stored in KV cache (1)",
    ],
)
def test_what_no_server_has_is_not_found(line: str) -> None:
    found = read([line])
    assert (found.facts, found.illness, found.tokens, found.concurrency) == ({}, None, None, None)
    traffic = [value for one in found.traffic.values() for value in (one.running, one.usage, one.prompt_tokens)]
    assert not any(value > 1e9 for value in traffic)


@pytest.mark.parametrize("before", ["(", "Loading weights took ", "Maximum concurrency for ", ""])
def test_a_line_of_digits_is_read_as_quickly_as_another(before: str) -> None:
    # Of its own thread: what else the machine does meanwhile is not counted.
    began = time.thread_time()
    read([before + "1" * 20_000] * 3)
    assert time.thread_time() - began < 1
