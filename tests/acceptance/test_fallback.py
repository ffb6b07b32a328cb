"""A Slack that refuses the token: the fallback receiver is told, once, whatever happens to the daemon meanwhile."""

import signal
from pathlib import Path

from monitor.simulator.server import SimulatedServer
from tests.acceptance.daemon import daemon
from tests.notify.endpoint import Endpoint, endpoint
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

RULES = "groups: [{name: g, rules: [{alert: Always, expr: 'vector(1)', labels: {severity: critical}}]}]\n"


def write(folder: Path, vllm: SimulatedServer, slack: SlackStub, pager: Endpoint) -> str:
    (folder / "g.rules.yaml").write_text(RULES)
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
global: {{scrape_interval: 1s, slack_base_url: "{slack.base_url}"}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{vllm.url.removeprefix("http://")}"]}}]}}]
rule_files: ["*.rules.yaml"]
route: {{receiver: oncall, group_wait: 0s, group_interval: 1s}}
receivers:
  - name: oncall
    fallback: pager
    slack_configs: [{{channel: {CHANNEL}, bot_token: {TOKEN}}}]
  - name: pager
    webhook_configs: [{{url: "{pager.url}"}}]
web: {{listen: "127.0.0.1:0"}}
"""
    )
    return str(path)


def test_the_fallback_is_told_once_and_slack_when_it_is_mended(tmp_path: Path, vllm: SimulatedServer) -> None:
    with SlackStub() as slack, endpoint() as pager:
        config = write(tmp_path, vllm, slack, pager)
        slack.workspace.revoked.add(TOKEN)
        for end in (signal.SIGKILL, signal.SIGTERM):
            with daemon(tmp_path, "--config", config) as ours:
                until(lambda: pager.requests, within=30)
                until(lambda: "not notified" in ours.log, within=30)
                until(ours.is_ready, within=30)
                if end is signal.SIGKILL:
                    # That the pager was told is known by now: else it would be told again.
                    until(lambda: 'notifications_total{integration="pager/webhook[0]"} 1.0' in ours.get("/metrics"), 20)
                ours.end(end)
        (told,) = pager.requests
        assert told.json["receiver"] == "pager"
        assert told.json["fallback"] == "oncall/slack[0] cannot be told: Slack refused: token_revoked"
        slack.workspace.revoked.clear()
        (tmp_path / "g.rules.yaml").write_text(RULES.replace("vector(1)", "vector(1) > 1"))
        with daemon(tmp_path, "--config", config) as ours:
            # Both hear the end: the pager because it heard the beginning.
            until(lambda: [one.json["status"] for one in pager.requests] == ["firing", "resolved"], within=20)
            until(lambda: slack.messages, within=30)
            assert TOKEN not in ours.log
