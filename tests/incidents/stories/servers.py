"""Servers and traffic that the stories share: a small model, as in the recordings, on a machine of its own."""

from dataclasses import replace

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.simulator.script import Cost, Fault, Lengths, Phase, Scenario, Server, exactly
from tests.incidents.hosts import Simulated

# 100 blocks of 32 tokens: 3,168 usable.
SMALL = Server(model_name="llama-3.1-8b", cost=Cost(base=14.0, per_sequence=0.9, per_prefill_token=0.05))
# Room for whatever comes.
ROOMY = replace(SMALL, num_gpu_blocks=801, max_num_seqs=64, enable_server_load_tracking=True)
# The same engine as older releases ship it.
OLDER = replace(SMALL, version="0.11.2")
V0 = replace(SMALL, version="0.9.0.1", v1=False, multiprocess=True, num_gpu_blocks=200, block_size=16)
# Slow and long: steps of whole seconds in a long prompt.
LONG = Server(
    model_name="llama-3.1-8b",
    max_model_len=400_000,
    num_gpu_blocks=40_001,
    enable_server_load_tracking=True,
    cost=Cost(base=20.0, per_sequence=1.0, per_prefill_token=2.0, jitter=0.1),
)
# For days: a step is as long as people bear, so that a day has fewer of them.
SLOW = replace(ROOMY, cost=Cost(base=60.0, per_sequence=0.5, per_prefill_token=0.02, jitter=0.2))


def people(at: Duration, duration: Duration, clients: int) -> Phase:
    """Return traffic of people: short questions, answers of all lengths, a pause to read."""
    return Phase(
        at,
        duration,
        clients,
        prompt=Lengths(32, 160),
        output=Lengths(60, 240),
        think=Lengths(500, 3000),
        stops=0.6,
        timeout=2 * MINUTE,
    )


def batch(at: Duration, duration: Duration, clients: int) -> Phase:
    """Return traffic of a job: every answer as long as it may be, the next request at once."""
    return Phase(at, duration, clients, prompt=exactly(64), output=exactly(380), think=Lengths(0, 400))


def simulated(
    server: Server, duration: Duration, *what: Phase | Fault, name: str = "vllm-0:8000", seed: int = 1
) -> Simulated:
    """Return a host that runs `server` with these phases and faults."""
    phases = tuple(one for one in what if isinstance(one, Phase))
    faults = tuple(one for one in what if not isinstance(one, Phase))
    return Simulated(Scenario(name, duration, server, phases, faults, seed), name)


HALF_MINUTE: Duration = 30 * SECOND
