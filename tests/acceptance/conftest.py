"""What the daemons of these tests watch."""

from collections.abc import Iterator

import pytest

from monitor.clock import SystemClock
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator


@pytest.fixture
def vllm() -> Iterator[SimulatedServer]:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as server:
        yield server
