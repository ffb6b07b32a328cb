"""Somebody sets the clock of a running daemon, an hour back or an hour ahead."""

import re
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.model.instant import HOUR, SECOND
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import daemon
from tests.acceptance.stage import write_config
from tests.engines import faketime, set_clock
from tests.slackstub.stub import SlackStub
from tests.waiting import until

# One scrape that fails, because the machine had something else to do, is no end of any alert.
RULES = """\
groups:
  - name: clock
    rules:
      - {alert: Always, expr: "max_over_time(vllm:num_requests_running[1m]) >= 0", labels: {severity: critical}}
      - {alert: Slowly, expr: "max_over_time(vllm:num_requests_running[1m]) >= 0", for: 30m}
      - {alert: Rated, expr: "rate(vllm:num_requests_running[1m]) >= 0"}
"""


@pytest.mark.parametrize("by", [-HOUR, HOUR], ids=["back", "ahead"])
def test_nothing_fires_or_resolves_because_the_clock_was_set(tmp_path: Path, by: int) -> None:
    offset = tmp_path / "offset"
    offset.write_text("+0")
    start = SystemClock().now()
    with SlackStub() as slack, SimulatedServer(Simulator(OVERLOAD, start=start)) as vllm:
        config = write_config(tmp_path, vllm.url.removeprefix("http://"), slack)
        text = config.read_text().replace("scrape_interval: 5s", "scrape_interval: 500ms, scrape_timeout: 500ms")
        config.write_text(text + 'rule_files: ["*.rules.yaml"]\n')
        (tmp_path / "own.rules.yaml").write_text(RULES)
        with daemon(tmp_path, "--config", str(config), **faketime(offset)) as ours:
            until(lambda: len(slack.messages) == 2, within=15)
            set_clock(offset, f"{by // SECOND:+d}")
            until(lambda: "the clock was set" in ours.log, within=15)
            evaluated = until(lambda: last_evaluation(ours.get("/api/v1/rules"), at_least=start + by), within=15)
            until(lambda: last_evaluation(ours.get("/api/v1/rules"), at_least=evaluated + 2 * SECOND), within=15)
            alerts = {one["labels"]["alertname"]: one["state"] for one in ours.data("/api/v1/alerts")["alerts"]}
            assert alerts == {"Always": "firing", "Slowly": "pending", "Rated": "firing"}
            assert "vllm_monitor_clock_steps_total 1.0" in ours.get("/metrics")
            assert len(slack.messages) == 2


def last_evaluation(page: str, at_least: int) -> int:
    """Return when the rules were evaluated last, if that is not before `at_least` nor an hour after it; else 0."""
    from datetime import datetime

    found = re.findall(r'"lastEvaluation": ?"([^"]+)"', page)
    at = round(max(datetime.fromisoformat(one).timestamp() for one in found) * 1000)
    return at if at_least <= at < at_least + HOUR // 2 else 0
