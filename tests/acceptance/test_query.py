"""The running daemon, asked by `vllm-monitor query` and by the real promtool."""

import json
import subprocess
import sys
from pathlib import Path

from monitor.clock import SystemClock
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import daemon
from tests.engines import engine
from tests.waiting import until


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_what_the_daemon_sees_can_be_asked_for(tmp_path: Path) -> None:
    ours = str(Path(sys.executable).with_name("vllm-monitor"))
    promtool = engine("promtool", "newer")
    with (
        SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm,
        daemon(tmp_path, "--target", vllm.url, "--listen", "127.0.0.1:0") as asked,
    ):
        until(asked.is_ready, within=30)
        running = "sum by (model_name) (vllm_engine:requests_running)"
        (series,) = json.loads(run(ours, "query", running, "--url", asked.url, "--json"))["data"]["result"]
        (model,) = series["metric"].values()
        assert model in run(ours, "query", running, "--url", asked.url)
        assert f'{{model_name="{model}"}} => ' in run(promtool, "query", "instant", asked.url, running)
        assert "=>\n1 @[" in run(promtool, "query", "range", asked.url, "up")
        assert "vllm" in run(promtool, "query", "labels", asked.url, "job").split()
        (described,) = asked.data("/api/v1/metadata?metric=vllm:num_requests_running").values()
        assert [one["type"] for one in described] == ["gauge"]
