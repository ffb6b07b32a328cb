"""The gate on a live daemon: it answers what the command answers, by status and by JSON."""

import json
from pathlib import Path
from typing import Any

import requests
from typer.testing import CliRunner

from monitor.cli import cli
from monitor.clock import SystemClock
from monitor.model.instant import HOUR
from monitor.simulator.script import Scenario, Server
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import PATIENCE, daemon
from tests.waiting import until

# 100 blocks of 32 tokens, for requests of 512: 6.25 at once in each engine.
FITS = Scenario("fits", HOUR, Server(data_parallel_size=2), (), ())


def command(url: str, floor: float) -> tuple[int, Any]:
    result = CliRunner().invoke(cli, ["gate", "--url", url, "--min-concurrency", str(floor), "--json"])
    return result.exit_code, json.loads(result.stdout)


def test_a_daemon_lets_a_deployment_go_on_as_the_command_does(tmp_path: Path) -> None:
    with SimulatedServer(Simulator(FITS, start=SystemClock().now())) as server:
        place = server.url.removeprefix("http://")
        arguments = ("--target", server.url, "--listen", "127.0.0.1:0", "--storage", str(tmp_path / "data"))
        with daemon(tmp_path, *arguments) as running:
            # Before it has asked, nobody passes.
            until(lambda: requests.get(f"{running.url}/-/gate", timeout=PATIENCE).json()["known"], within=20)
            for floor, code, status in ((2.5, 0, 200), (6.25, 0, 200), (6.5, 1, 503)):
                answer = requests.get(
                    f"{running.url}/-/gate?min_concurrency={floor}&instance={place}", timeout=PATIENCE
                )
                told = answer.json()
                each = told.pop("targets")
                assert answer.status_code == status
                assert command(server.url, floor) == (code, told)
                assert each == {place: told}
                assert told["concurrency"] == {"0": 6.25, "1": 6.25}
            nobody = requests.get(f"{running.url}/-/gate?instance=nobody:1", timeout=PATIENCE)
            assert (nobody.status_code, nobody.json()["known"]) == (503, False)
