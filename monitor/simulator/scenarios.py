"""Scenarios that come with the program. They grow from the recordings: same server, same kind of traffic."""

from dataclasses import replace

from monitor.model.instant import MINUTE, SECOND, Duration
from monitor.simulator.script import Cost, Hang, Killed, Lengths, Phase, Scenario, Server, exactly

# The recorded server on a machine of its own: slower steps, but none that lasts a second.
_SERVER = Server(model_name="llama-3.1-8b", cost=Cost(base=14.0, per_sequence=0.9, per_prefill_token=0.05))


def _people(at: Duration, duration: Duration, clients: int) -> Phase:
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


def _batch(at: Duration, duration: Duration, clients: int) -> Phase:
    """Return traffic of a job: every answer as long as it may be, the next request at once."""
    return Phase(at, duration, clients, prompt=exactly(64), output=exactly(380), think=Lengths(0, 400))


def _burst(at: Duration, duration: Duration) -> Phase:
    return Phase(at, duration, clients=45, prompt=Lengths(32, 128), output=Lengths(60, 120))


OVERLOAD = Scenario(
    "overload",
    duration=20 * MINUTE,
    server=_SERVER,
    phases=(
        _people(0, 20 * MINUTE, clients=2),
        _people(2 * MINUTE, 13 * MINUTE, clients=4),
        _batch(3 * MINUTE, 9 * MINUTE, clients=4),
        # From here on more ask than fit: 50 requests of 444 tokens each, into a pool of 3,168.
        _batch(4 * MINUTE, 8 * MINUTE, clients=46),
    ),
    faults=(Killed(at=15 * MINUTE + 30 * SECOND, duration=2 * MINUTE),),
    summary="Calm, then more load than fits for eight minutes, then calm; later the engine dies and is restarted.",
)

# Twice the pool of the overload, as in the recording: bursts wait for a place in the batch, never for blocks.
HEALTHY_BURSTY = Scenario(
    "healthy_bursty",
    duration=18 * MINUTE,
    server=replace(_SERVER, num_gpu_blocks=401),
    phases=(
        _people(0, 330 * SECOND, clients=3),
        _burst(150 * SECOND, 20 * SECOND),
        _people(7 * MINUTE, 280 * SECOND, clients=3),
        _burst(9 * MINUTE, 33 * SECOND),
        _people(13 * MINUTE, 140 * SECOND, clients=3),
        _burst(14 * MINUTE + 30 * SECOND, 30 * SECOND),
        _people(16 * MINUTE, 70 * SECOND, clients=3),
        _burst(16 * MINUTE + 25 * SECOND, 12 * SECOND),
    ),
    summary="Ordinary traffic with bursts that queue for less than a minute, and idle gaps: nothing to report.",
)

HANG = Scenario(
    "hang",
    duration=11 * MINUTE,
    server=replace(_SERVER, num_gpu_blocks=201, enable_server_load_tracking=True),
    phases=(
        Phase(0, 590 * SECOND, 5, prompt=Lengths(64, 200), output=Lengths(100, 300), timeout=2 * MINUTE),
        Phase(0, 590 * SECOND, 5, prompt=Lengths(64, 200), output=Lengths(100, 300)),
    ),
    faults=(Hang(at=130 * SECOND, duration=6 * MINUTE),),
    summary="The engine stops for six minutes with requests in flight; /metrics and /health answer 200 throughout.",
)

KILLED = Scenario(
    "killed",
    duration=10 * MINUTE,
    server=_SERVER,
    phases=(_people(0, 10 * MINUTE, clients=6),),
    faults=(Killed(at=3 * MINUTE, duration=4 * MINUTE),),
    summary="The engine dies; a stale page or two, then the port is refused for four minutes.",
)

SCENARIOS = {scenario.name: scenario for scenario in (OVERLOAD, HEALTHY_BURSTY, HANG, KILLED)}
