"""Our alerts in real Alertmanagers: two daemons meet there, and what they both find is one alert."""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.daemon import daemon
from tests.dispatch.alertmanager import alertmanager, webhooks
from tests.engines import engine
from tests.waiting import until

ROUTE = """\
route: {{receiver: here, group_by: [alertname], group_wait: 1s, group_interval: 1s}}
receivers: [{{name: here, webhook_configs: [{{url: "{url}/here"}}]}}]
"""
OURS = """\
global: {{scrape_interval: 1s, external_labels: {{cluster: eu, replica: {name}}}}}
rule_files: [rules.yaml]
alerting:
  alert_relabel_configs: [{{action: labeldrop, regex: replica}}]
  alertmanagers: [{{static_configs: [{{targets: ["{target}"]}}]}}]
route: {{receiver: nobody}}
receivers: [{{name: nobody}}]
web: {{listen: 127.0.0.1:0}}
"""
RULES = """\
groups: [{name: g, rules: [{alert: Always, expr: vector(1), labels: {severity: low}, annotations: {summary: "So"}}]}]
"""


@pytest.mark.parametrize("suite", ["", "newer"], ids=["0.25", "0.33"])
def test_two_daemons_are_one_alert_and_one_message_in_a_real_alertmanager(tmp_path: Path, suite: str) -> None:
    with ExitStack() as stack:
        told = stack.enter_context(webhooks())
        (tmp_path / "alertmanager").mkdir()
        url = stack.enter_context(alertmanager(tmp_path / "alertmanager", ROUTE.format(url=told.url), suite))
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "rules.yaml").write_text(RULES)
            text = OURS.format(name=name, target=url.removeprefix("http://"))
            (folder / "monitor.yaml").write_text(text)
            stack.enter_context(daemon(folder, "--config", "monitor.yaml"))
        (alert,) = until(lambda: query(url, suite), within=20)
        assert alert["labels"] == {"alertname": "Always", "cluster": "eu", "severity": "low"}
        assert alert["annotations"] == {"summary": "So"}
        (_, _, message) = until(lambda: told.posted, within=20)[0]
        assert [one["labels"]["alertname"] for one in message["alerts"]] == ["Always"]
        assert len(told.posted) == 1


def query(url: str, suite: str) -> list[Any]:
    command = [engine("amtool", suite), "--alertmanager.url", url, "alert", "query", "-o", "json"]
    found: list[Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found
