"""`python -m monitor.simulator`: a scenario on a port, in real time or faster."""

import argparse
import signal
import sys
from collections.abc import Sequence
from threading import Event

from monitor.clock import SystemClock
from monitor.model.instant import SECOND, format_duration, to_seconds
from monitor.simulator.scenarios import SCENARIOS
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator

_TICK_SECONDS = 0.1


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m monitor.simulator", description="A vLLM without a GPU.")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default="overload")
    parser.add_argument("--listen", default="127.0.0.1:8000", metavar="HOST:PORT", help="default: %(default)s")
    parser.add_argument("--speed", type=float, default=1.0, help="simulated seconds a second; default: %(default)s")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Play until the scenario is over or a signal comes. Returns the exit code."""
    options = _arguments(argv)
    host, _, port = options.listen.rpartition(":")
    scenario = SCENARIOS[options.scenario]
    clock = SystemClock()
    began = clock.now()
    stopping = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    with SimulatedServer(Simulator(scenario, start=began), host or "127.0.0.1", int(port)) as server:
        simulator = server.simulator
        lasts = format_duration(scenario.duration - scenario.duration % SECOND)
        sys.stdout.write(f"{scenario.name} ({lasts}) on {server.url}/metrics; Ctrl-C ends it\n")
        sys.stdout.flush()
        while simulator.now < simulator.end and not stopping.wait(_TICK_SECONDS):
            simulator.advance(began + int((clock.now() - began) * options.speed))
        sys.stdout.write(f"ended after {to_seconds(simulator.now - began):.0f} simulated seconds\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
