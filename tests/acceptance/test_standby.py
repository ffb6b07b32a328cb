"""Two daemons over one folder: one tells; when it is killed or hangs the other goes on, and nothing is told twice."""

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.acceptance.daemon import PATIENCE, Daemon, daemon
from tests.slackstub.faults import Hang
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

CONFIG = """\
global: {{slack_base_url: "{slack}", scrape_interval: 1s}}
rule_files: [../rules.yaml]
route: {{receiver: oncall, group_by: [alertname], group_wait: 50ms, group_interval: 200ms}}
receivers: [{{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: ../token, graphs: false}}]}}]
storage: {{path: ../data}}
ha: {{lease: {lease}}}
web: {{listen: 127.0.0.1:0}}
"""
# Who is killed is gone at once, however long the lease is; a busy machine keeps nobody silent for so long.
LONG, SHORT = "1m", "6s"
RULES = """\
groups: [{name: g, rules: [{alert: Always, expr: vector(1), labels: {severity: critical}}]}]
"""


@dataclass
class Pair:
    slack: SlackStub
    active: Daemon
    standby: Daemon

    def roots(self) -> list[str]:
        return [message.text.splitlines()[0] for message in self.slack.messages if not message.thread_ts]


@contextmanager
def pair(folder: Path, lease: str) -> Iterator[Pair]:
    (folder / "token").write_text(TOKEN)
    (folder / "rules.yaml").write_text(RULES)
    with ExitStack() as stack:
        slack = stack.enter_context(SlackStub())
        daemons = []
        for name in ("a", "b"):
            (folder / name).mkdir()
            text = CONFIG.format(slack=slack.base_url, channel=CHANNEL, lease=lease)
            (folder / name / "monitor.yaml").write_text(text)
            one = stack.enter_context(daemon(folder / name, "--config", "monitor.yaml"))
            daemons.append(one)
            until(lambda: role(daemons[-1]) is not None, within=15)
        yield Pair(slack, *daemons)
        assert_invariants(slack)


def role(one: Daemon) -> str | None:
    """Return what it says it is, None while it says nothing."""
    try:
        answer = requests.get(f"{one.url}/-/ready", timeout=PATIENCE)
    except requests.RequestException:
        return None
    return str(json.loads(answer.text)["role"]) if answer.ok else None


def post(to: Daemon, name: str) -> int:
    alert = {"labels": {"alertname": name, "severity": "critical"}}
    return requests.post(f"{to.url}/api/v2/alerts", json=[alert], timeout=PATIENCE).status_code


def test_one_tells_and_the_other_stands_by_until_it_is_killed(tmp_path: Path) -> None:
    with pair(tmp_path, LONG) as both:
        assert (role(both.active), role(both.standby)) == ("active", "standby")
        assert "vllm_monitor_active 1.0" in both.active.get("/metrics")
        assert "vllm_monitor_active 0.0" in both.standby.get("/metrics")
        assert requests.get(f"{both.standby.url}/-/active", timeout=PATIENCE).status_code == 503
        until(lambda: len(both.roots()) == 1, within=15)
        assert post(both.standby, "Lost") == 503
        assert post(both.active, "Kept") == 200
        until(lambda: len(both.roots()) == 2, within=15)
        both.active.end(signal.SIGKILL)
        until(lambda: role(both.standby) == "active", within=15)
        assert post(both.standby, "Later") == 200
        until(lambda: len(both.roots()) == 3, within=15)
        assert len(set(both.roots())) == 3


def test_one_that_hangs_is_relieved_and_tells_nothing_when_it_wakes(tmp_path: Path) -> None:
    with pair(tmp_path, SHORT) as both:
        until(lambda: len(both.roots()) == 1, within=15)
        # Slack has the message, and nobody has its answer.
        both.slack.fail_next(Hang(applied=True), method="chat.postMessage")
        post(both.active, "Torn")
        until(lambda: any("Torn" in str(request.payload) for request in both.slack.requests), within=15)
        both.active.process.send_signal(signal.SIGSTOP)
        until(lambda: role(both.standby) == "active", within=20)
        until(lambda: len(both.roots()) == 2, within=15)
        both.active.process.send_signal(signal.SIGCONT)
        # Whoever starts it again has one that stands by.
        assert both.active.process.wait(timeout=PATIENCE) == 1
        assert post(both.standby, "After") == 200
        until(lambda: len(both.roots()) == 3, within=15)
        assert len(set(both.roots())) == 3
