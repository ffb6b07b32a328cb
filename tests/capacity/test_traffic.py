"""What is read from the lines that a server writes of its traffic, in every format since 0.4."""

from dataclasses import asdict, replace
from math import isnan
from pathlib import Path

import pytest

from monitor.capacity.startup_reader import read
from monitor.capacity.traffic import Traffic, TrafficReader

LOGS = Path(__file__).parents[1] / "data" / "startup"
SPEED = "Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 20.0 tokens/s"
V0 = f"{SPEED}, Running: 3 reqs, Swapped: 0 reqs, Pending: 4 reqs"
V1 = f"{SPEED}, Running: 3 reqs, Waiting: 4 reqs"


def told(*lines: str) -> dict[str, dict[str, float]]:
    reader = TrafficReader()
    for line in lines:
        reader.feed(f"INFO 11-30 03:04:22 [loggers.py:1] {line}")
    return {
        engine: {name: value for name, value in asdict(each).items() if name != "lines" and not isnan(value)}
        for engine, each in reader.engines.items()
    }


def known(running: float, waiting: float, usage: float, **more: float) -> dict[str, float]:
    return {"prompt_tokens": 10, "generated_tokens": 20, "running": running, "waiting": waiting, "usage": usage} | more


@pytest.mark.parametrize(
    ("line", "engine", "numbers"),
    [
        (
            f"{V0}, GPU KV cache usage: 51.2%, CPU KV cache usage: 7.0%.",
            "",
            known(3, 4, 51.2),
        ),
        (
            f"{V0}, GPU KV cache usage: 0.0%, CPU KV cache usage: 92.5%.",
            "",
            known(3, 4, 92.5),
        ),
        (f"{V1} GPU KV cache usage: 51.2%.", "", known(3, 4, 51.2)),
        (
            f"{V1}, GPU KV cache usage: 51.2%, Prefix cache hit rate: 8.0%",
            "",
            known(3, 4, 51.2, prefix_hits=8),
        ),
        (
            f"Engine 001: {V1}, GPU KV cache usage: 51.2%, Prefix cache hit rate: 8.0%",
            "1",
            known(3, 4, 51.2, prefix_hits=8),
        ),
        (
            (
                f"2 Engines Aggregated: {V1}, Deferred: 1 reqs, Preemptions: 5, "
                "CPU KV cache usage: 51.2%, Prefix cache hit rate: 8.0%, External prefix cache hit rate: 9.0%"
            ),
            "",
            known(3, 4, 51.2, preemptions=5, prefix_hits=8),
        ),
        (
            (
                f"Engine 000: {V1}, XPU KV cache usage: 51.2%, "
                "KV fetch: 1 waiting to start, 2 in progress, 3 completed waiting"
            ),
            "0",
            known(3, 4, 51.2),
        ),
    ],
)
def test_each_format_says_its_numbers(line: str, engine: str, numbers: dict[str, float]) -> None:
    assert told(line) == {engine: numbers}


def test_speculative_decoding_says_what_a_step_brings() -> None:
    line = "SpecDecoding metrics: Mean acceptance length: {}, Accepted throughput: 12.00 tokens/s, Accepted: 120 tokens"
    assert told(line.format("1.50"), line.format("2.25")) == {"": {"accepted": 2.25}}


def test_the_line_of_an_iteration_is_another_one() -> None:
    line = (
        "Engine 000: Iteration(7): 1 context requests, 9 context tokens, 2 generation requests, 2 generation tokens, "
        "iteration elapsed time: 3.00 ms, GPU KV cache usage: 5.0%"
    )
    assert told(line) == {}


def test_the_most_is_kept_preemptions_add_up_and_the_last_hit_rate_counts() -> None:
    line = "Avg prompt throughput: {0}.0 tokens/s, Running: {0} reqs, Preemptions: {0}, Prefix cache hit rate: {0}.0%"
    assert told(line.format(3), line.format(1)) == {
        "": {"prompt_tokens": 3, "running": 3, "preemptions": 4, "prefix_hits": 1}
    }


def test_what_v0_says_of_preemptions_is_their_number_so_far() -> None:
    line = "Sequence group a is preempted by PreemptionMode.RECOMPUTE mode because … total_num_cumulative_preemption={}"
    assert told(line.format(1), line.format(51)) == {"": {"preemptions": 51}}


def test_the_log_of_a_real_server_says_how_busy_it_was() -> None:
    found = read((LOGS / "vllm-0.32.0-startup.log").read_text(errors="replace").splitlines()).traffic
    assert {engine: replace(each, preemptions=0) for engine, each in found.items()} == {
        "0": Traffic(37, 16, 43, 100, 260.5, 1500.9, 0, prefix_hits=0)
    }
    assert isnan(found["0"].preemptions)
    two = read((LOGS / "vllm-0.32.0-startup-dp2.log").read_text(errors="replace").splitlines()).traffic
    assert {engine: (each.running, each.waiting, each.usage) for engine, each in two.items()} == {
        "0": (8, 11, 88.9),
        "1": (8, 6, 63.6),
    }
