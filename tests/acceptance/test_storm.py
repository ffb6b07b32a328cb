"""Three hundred alerts at once, in the daemon as its users run it: one digest, in time, the worst first."""

import re
from pathlib import Path

import requests

from monitor.clock import monotonic_seconds
from tests.acceptance.daemon import PATIENCE, daemon
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN, Posted
from tests.waiting import until

CONFIG = """\
global: {{slack_base_url: "{base_url}", scrape_interval: 1m}}
rule_files: []
route: {{receiver: oncall, group_by: [alertname, instance], group_wait: 200ms, group_interval: 1m}}
receivers: [{{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: token}}]}}]
web: {{listen: 127.0.0.1:0}}
"""
COUNT = 300


def alert(number: int) -> dict[str, object]:
    severity = "critical" if number % 10 == 0 else "warning"
    name = "ModelDown" if severity == "critical" else "QueueLong"
    labels = {"alertname": name, "severity": severity, "instance": f"10.0.0.{number}:8000"}
    return {"labels": labels, "annotations": {"summary": f"{name} is so"}}


def test_three_hundred_alerts_at_once_are_one_digest_soon(tmp_path: Path) -> None:
    with SlackStub() as slack:
        (tmp_path / "token").write_text(TOKEN)
        config = tmp_path / "monitor.yaml"
        config.write_text(CONFIG.format(base_url=slack.base_url, channel=CHANNEL))
        with daemon(tmp_path, "--config", str(config)) as running:
            began = monotonic_seconds()
            alerts = [alert(number) for number in range(COUNT)]
            assert requests.post(f"{running.url}/api/v2/alerts", json=alerts, timeout=PATIENCE).ok
            until(lambda: told(slack) == COUNT, within=10)
            took = monotonic_seconds() - began
            running.end()
        # One after the other, at Slack's pace, it would be five minutes.
        assert took < 30
        assert len(slack.messages) <= 3
        assert {message.text.partition(":")[0] for message in roots(slack)} == {"🔴 CRITICAL"}
        assert_invariants(slack)


def roots(slack: SlackStub) -> list[Posted]:
    return [message for message in slack.messages if not message.thread_ts]


def told(slack: SlackStub) -> int:
    """Return how many alerts the messages in the channel tell of."""
    counts = [re.search(r"^(\d+) firing", message.text, re.MULTILINE) for message in roots(slack)]
    return sum(int(count[1]) if count else 1 for count in counts)
