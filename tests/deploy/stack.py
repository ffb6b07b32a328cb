"""
The files of deploy/compose, given to the real programs on the loopback: Slack hears of an incident once.

A part of `make deploy-check`, not of every test run: it takes half a minute.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from monitor.clock import SystemClock
from monitor.commands.rules import built, put
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import daemon
from tests.deploy.tools import DEPLOY
from tests.differential.server import prometheus
from tests.dispatch.alertmanager import alertmanager
from tests.engines import engine
from tests.slackstub.stub import SlackStub
from tests.waiting import until

# Down is down at once, and is looked for every second: what is tried is the way of the alert, not its patience.
QUICKLY = {"evaluation_interval: 15s": "evaluation_interval: 1s", "scrape_interval: 5s": "scrape_interval: 1s"}
QUICKLY |= {"scrape_timeout: 5s": "scrape_timeout: 1s"}


def placed(name: str, places: Mapping[str, str]) -> str:
    """Return a configuration with what stands elsewhere here; each place is in it."""
    text = (DEPLOY / "compose" / name).read_text()
    for there, here in places.items():
        assert there in text, there
        text = text.replace(there, here)
    return text


def test_an_incident_is_one_message_by_way_of_prometheus_and_alertmanager(tmp_path: Path) -> None:
    for name in ("ours", "alertmanager", "prometheus"):
        (tmp_path / name).mkdir()
    put(built(None, ["alerts.VLLMTargetDown.for=0s"]), tmp_path / "rules")
    simulated = SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now()))
    with ExitStack() as stack:
        slack = stack.enter_context(SlackStub())
        vllm = stack.enter_context(simulated).url.removeprefix("http://")
        secret = tmp_path / "slack-webhook"
        secret.write_text(slack.webhook_url)
        token = tmp_path / "alertmanager-token"
        token.write_text("a token of the two\n")
        config = tmp_path / "ours" / "monitor.yaml"
        places = {"vllm:8000": vllm, "/run/secrets/slack-webhook": str(secret), "0.0.0.0:9109": "127.0.0.1:0"}
        tokens = {"/run/secrets/alertmanager-token": str(token)}
        places |= tokens | {"/var/lib/vllm-monitor/data": str(tmp_path / "ours" / "data")}
        config.write_text(placed("monitor-behind-alertmanager.yaml", places))
        ours = stack.enter_context(daemon(tmp_path / "ours", "--config", str(config)))
        places = {"http://monitor:9109": ours.url, "group_interval: 30s": "group_interval: 1s"}
        routed = placed("alertmanager.yml", places | tokens)
        theirs = stack.enter_context(alertmanager(tmp_path / "alertmanager", routed)).removeprefix("http://")
        places = {"vllm:8000": vllm, "monitor:9109": ours.url.removeprefix("http://"), "alertmanager:9093": theirs}
        places |= {"/etc/prometheus/rules/": f"{tmp_path / 'rules'}/"} | QUICKLY
        stack.enter_context(
            prometheus(engine("prometheus", "newer"), tmp_path / "prometheus", placed("prometheus.yml", places))
        )
        until(lambda: "vllm_monitor_target_health_up" in ours.get("/metrics"), within=20)
        simulated.__exit__(None, None, None)
        until(lambda: slack.messages, within=60)
        # Both have seen it by now, and only one has told.
        until(lambda: [one for one in ours.data("/api/v1/alerts")["alerts"] if one["state"] == "firing"], within=120)
        down = [message for message in slack.messages if "does not answer" in json.dumps(message.payload)]
        assert len(down) == 1
        assert "VLLMMonitorWatchdog" not in json.dumps([message.payload for message in slack.messages])
