"""Reads values off a simulated page, and plays scenarios second by second."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from monitor.model.instant import SECOND, Duration
from monitor.simulator.script import Fault, Phase, Scenario, Server
from monitor.simulator.simulator import Simulator


def value(page: str, name: str, **labels: str) -> float:
    """Return the sum over the series of this name that have these labels; a missing series is an error."""
    found = []
    for series, text in re.findall(rf"^{re.escape(name)}(\{{.*\}})? (\S+)$", page, re.MULTILINE):
        if all(f'{label}="{wanted}"' in series for label, wanted in labels.items()):
            found.append(float(text))
    assert found, f"no {name}{labels} on the page"
    return sum(found)


@dataclass(frozen=True)
class Reading:
    """What a page says of the engine."""

    running: float
    waiting: float
    kv: float
    preemptions: float
    prompt_tokens: float
    generation_tokens: float
    first_tokens: float
    finished: float
    iterations: float

    @classmethod
    def of(cls, page: str) -> "Reading":
        return cls(
            running=value(page, "vllm:num_requests_running"),
            waiting=value(page, "vllm:num_requests_waiting"),
            kv=value(page, "vllm:kv_cache_usage_perc"),
            preemptions=value(page, "vllm:num_preemptions_total"),
            prompt_tokens=value(page, "vllm:prompt_tokens_total"),
            generation_tokens=value(page, "vllm:generation_tokens_total"),
            first_tokens=value(page, "vllm:time_to_first_token_seconds_count"),
            finished=value(page, "vllm:e2e_request_latency_seconds_count"),
            iterations=value(page, "vllm:iteration_tokens_total_count"),
        )


def play(*phases: Phase, server: Server | None = None, faults: tuple[Fault, ...] = (), seed: int = 1) -> Simulator:
    """Return a simulator at the start of an hour with these phases and faults."""
    return Simulator(Scenario("test", 3_600 * SECOND, server or Server(), phases, faults, seed))


def at(simulator: Simulator, offset: Duration) -> Reading:
    """Advance to `offset` after the start and read the page."""
    simulator.advance(simulator.start + offset)
    return Reading.of(simulator.page())


def readings(simulator: Simulator, duration: Duration, step: Duration = SECOND) -> Iterator[Reading]:
    """Yield a reading each `step`, the first after one step."""
    for offset in range(step, duration + 1, step):
        yield at(simulator, offset)
