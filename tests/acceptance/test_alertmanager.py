"""A real Prometheus evaluates, a real Alertmanager routes, and Slack is told by us, as of our own alerts."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from monitor.clock import SystemClock, VirtualClock
from monitor.model.instant import MINUTE
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import PATIENCE, Daemon, daemon
from tests.differential.server import prometheus
from tests.dispatch.alertmanager import alertmanager
from tests.engines import engine
from tests.recorded import RecordedServer, Recording
from tests.slackstub.clicks import SIGNING_SECRET, button_of, clicked, signed
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN, Posted
from tests.waiting import until

RULES = """\
groups:
  - name: vllm
    rules:
      - alert: Busy
        # One scrape that fails, because the machine had something else to do, is no end of the alert.
        expr: max_over_time(vllm:num_requests_running[1m]) >= 0 unless on () over > 0
        labels: {severity: critical}
        annotations: {summary: It is busy, description: "Try first: look at it", value: "{{ $value }} requests"}
"""
# As above: the numbers of a message are there although one scrape has failed.
RECORDED = """\
groups:
  - name: g
    rules: [{record: "vllm_engine:requests_running", expr: "max_over_time(vllm:num_requests_running[1m])"}]
"""
OURS = """\
global: {{slack_base_url: "{slack}", scrape_interval: 1s}}
rule_files: [recorded.yaml]
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{vllm}"]}}]}}]
route: {{receiver: other}}
receivers:
  - {{name: other}}
  - {{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: token, graphs: false}}]}}
alerting: {{webhook: {{authorization: {{credentials: "let-me-in"}}}}}}
slack: {{signing_secret_file: signing}}
web: {{listen: 127.0.0.1:0}}
"""
ROUTE = """\
route: {{receiver: slack, group_by: [alertname], group_wait: 0s, group_interval: 1100ms, repeat_interval: 1s}}
receivers:
  - name: slack
    webhook_configs:
      - url: {url}/alertmanager/oncall
        http_config: {{authorization: {{credentials: let-me-in}}}}
"""
PROMETHEUS = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs:
  - {{job_name: vllm, static_configs: [{{targets: ["{vllm}"]}}]}}
  - {{job_name: switch, static_configs: [{{targets: ["{switch}"]}}]}}
"""
BUSY, OVER = 0, MINUTE


@dataclass
class Chain:
    """Everything in its place; `clock` says whether it is over."""

    slack: SlackStub
    ours: Daemon
    alertmanager: str
    clock: VirtualClock

    @property
    def roots(self) -> list[Posted]:
        return [message for message in self.slack.messages if not message.thread_ts]


@contextmanager
def chain(folder: Path, vllm: str) -> Iterator[Chain]:
    for name in ("ours", "alertmanager", "prometheus"):
        (folder / name).mkdir()
    (folder / "ours" / "token").write_text(TOKEN)
    (folder / "ours" / "signing").write_text(SIGNING_SECRET)
    (folder / "ours" / "recorded.yaml").write_text(RECORDED)
    rules = folder / "rules.yaml"
    rules.write_text(RULES)
    clock = VirtualClock(BUSY)
    with ExitStack() as stack:
        slack = stack.enter_context(SlackStub())
        config = folder / "ours" / "monitor.yaml"
        config.write_text(OURS.format(slack=slack.base_url, channel=CHANNEL, vllm=vllm))
        ours = stack.enter_context(daemon(folder / "ours", "--config", str(config)))
        # Before anybody tells of it, so that its numbers are known.
        until(lambda: ours.data("/api/v1/query?query=vllm_engine:requests_running")["result"], within=20)
        switch = stack.enter_context(RecordedServer(Recording((BUSY, OVER), ("over 0\n", "over 1\n")), clock))
        theirs = stack.enter_context(alertmanager(folder / "alertmanager", ROUTE.format(url=ours.url)))
        places = {"alertmanager": theirs.removeprefix("http://"), "vllm": vllm, "switch": switch.address}
        told = PROMETHEUS.format(rules=rules, **places)
        stack.enter_context(prometheus(engine("prometheus", "newer"), folder / "prometheus", told))
        yield Chain(slack, ours, theirs, clock)
        assert_invariants(slack, logs=ours.log)


def test_what_prometheus_finds_is_one_message_that_is_edited_until_it_is_over(tmp_path: Path) -> None:
    with (
        SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm,
        chain(tmp_path, vllm.url.removeprefix("http://")) as everything,
    ):
        slack = everything.slack
        (root,) = until(lambda: everything.roots, within=30)
        # Alertmanager says it again and again, and it is no news.
        until(lambda: received(everything.ours) >= 3, within=20)
        shown = json.dumps(everything.roots[0].payload)
        assert "It is busy" in shown
        assert "look at it" in shown
        # The numbers of the engine are there, because we scrape it as well.
        assert "running" in shown
        click(everything, "vllm_monitor_silence_1h")
        (silence,) = until(lambda: silences(everything, "active"), within=15)
        assert {one["name"]: one["value"] for one in silence["matchers"]}["alertname"] == "Busy"
        until(lambda: says(slack, "Also silenced in Alertmanager"), within=15)
        until(lambda: button_of(everything.roots[0], "vllm_monitor_unsilence"), within=15)
        click(everything, "vllm_monitor_unsilence")
        until(lambda: silences(everything, "expired"), within=15)
        assert silences(everything, "active") == []
        everything.clock.at = OVER
        until(lambda: "resolved" in everything.roots[0].text.lower(), within=30)
        assert [message.ts for message in slack.messages if message.in_channel] == [root.ts]


def click(everything: Chain, action: str) -> None:
    body, headers = signed(clicked(everything.slack.workspace, action), time.time())
    url = f"{everything.ours.url}/slack/actions"
    assert requests.post(url, data=body, headers=headers, timeout=PATIENCE).status_code == 200


def silences(everything: Chain, state: str) -> list[Any]:
    found: list[Any] = requests.get(f"{everything.alertmanager}/api/v2/silences", timeout=PATIENCE).json()
    return [one for one in found if one["status"]["state"] == state]


def says(slack: SlackStub, text: str) -> bool:
    return any(text in message.text for message in slack.messages if message.thread_ts)


def received(ours: Daemon) -> float:
    """Return how many messages of Alertmanagers came."""
    (found,) = re.findall(r"^vllm_monitor_webhooks_received_total (\S+)$", ours.get("/metrics"), re.MULTILINE)
    return float(found)
