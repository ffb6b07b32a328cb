"""Our alerts in real Alertmanagers: two daemons meet there, and what they both find is one alert."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.acceptance.daemon import daemon
from tests.dispatch.alertmanager import Webhooks, alertmanager, webhooks
from tests.engines import engine
from tests.waiting import until

SUITES = ("", "newer")
ROUTE = """\
route: {{receiver: here, group_by: [alertname], group_wait: 1s, group_interval: 1s}}
receivers: [{{name: here, webhook_configs: [{{url: "{url}/here"}}]}}]
"""
OURS = """\
global: {{scrape_interval: 1s, external_labels: {{cluster: eu, replica: {name}}}}}
rule_files: [rules.yaml]
alerting:
  alert_relabel_configs: [{{action: labeldrop, regex: replica}}]
  alertmanagers: [{{static_configs: [{{targets: [{targets}]}}]}}]
route: {{receiver: nobody}}
receivers: [{{name: nobody}}]
web: {{listen: 127.0.0.1:0}}
"""
RULES = """\
groups: [{name: g, rules: [{alert: Always, expr: vector(1), labels: {severity: low}, annotations: {summary: "So"}}]}]
"""


def test_two_daemons_are_one_alert_and_one_message_in_each_real_alertmanager(tmp_path: Path) -> None:
    with ExitStack() as stack:
        # Debian's, which is 0.25, and 0.33.
        theirs = {suite: stack.enter_context(telling(tmp_path / f"alertmanager {suite}", suite)) for suite in SUITES}
        targets = ", ".join(f'"{url.removeprefix("http://")}"' for url, _ in theirs.values())
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "rules.yaml").write_text(RULES)
            (folder / "monitor.yaml").write_text(OURS.format(name=name, targets=targets))
            stack.enter_context(daemon(folder, "--config", "monitor.yaml"))
        for suite, (url, told) in theirs.items():
            (alert,) = until(partial(query, url, suite), within=20)
            assert alert["labels"] == {"alertname": "Always", "cluster": "eu", "severity": "low"}
            assert alert["annotations"] == {"summary": "So"}
            (_, _, message) = until(partial(getattr, told, "posted"), within=20)[0]
            assert [one["labels"]["alertname"] for one in message["alerts"]] == ["Always"]
            assert len(told.posted) == 1


@contextmanager
def telling(folder: Path, suite: str) -> Iterator[tuple[str, Webhooks]]:
    """Run an Alertmanager; yields its URL, and who is told by it."""
    folder.mkdir()
    with webhooks() as told, alertmanager(folder, ROUTE.format(url=told.url), suite) as url:
        yield url, told


def query(url: str, suite: str) -> list[Any]:
    command = [engine("amtool", suite), "--alertmanager.url", url, "alert", "query", "-o", "json"]
    found: list[Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found
