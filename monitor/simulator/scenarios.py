"""Scenarios that come with the program."""

from monitor.model.instant import MINUTE, SECOND
from monitor.simulator.script import Cost, Killed, Lengths, Phase, Scenario, Server, exactly

# The server of the recording, on hardware that is a little slower and steadier than the recorded one was.
_SMALL = Server(model_name="llama-3.1-8b", cost=Cost(base=14.0, per_sequence=0.9, per_prefill_token=0.05, jitter=0.3))
_CHAT = Phase(at=0, duration=0, prompt=Lengths(32, 96), output=Lengths(60, 240), stops=0.6)

OVERLOAD = Scenario(
    name="overload",
    duration=20 * MINUTE,
    server=_SMALL,
    phases=(
        Phase(
            at=0,
            duration=20 * MINUTE,
            clients=2,
            prompt=Lengths(32, 96),
            output=Lengths(60, 240),
            stops=0.6,
            think=Lengths(500, 3000),
        ),
        Phase(at=150 * SECOND, duration=90 * SECOND, clients=4, prompt=exactly(64), output=exactly(250)),
        Phase(at=4 * MINUTE, duration=8 * MINUTE, clients=50, prompt=exactly(64), output=exactly(380)),
    ),
    faults=(Killed(at=15 * MINUTE + 30 * SECOND, duration=2 * MINUTE),),
)
SCENARIOS = {scenario.name: scenario for scenario in (OVERLOAD,)}
