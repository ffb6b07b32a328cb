"""The daemon while its targets come and go: what is scraped, what is alerted, and what it tells of it."""

from pathlib import Path
from typing import Any

import requests

from tests.discovery.test_http import Answers, served
from tests.scrape.wire import page, serving
from tests.test_app import started
from tests.waiting import until

PAGE = page(b"vllm:num_requests_running 1\n")
RULES = """\
groups:
  - name: g
    rules:
      - {alert: Down, expr: up == 0, labels: {severity: critical}}
"""


def write(folder: Path, relabelling: str = "[]") -> Path:
    (folder / "x.rules.yaml").write_text(RULES)
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: vllm
    probe: {{enabled: false}}
    file_sd_configs: [{{files: [targets.json]}}]
    relabel_configs: {relabelling}
rule_files: [x.rules.yaml]
receivers: [{{name: nobody}}]
web: {{listen: "127.0.0.1:0"}}
"""
    )
    return path


def list_targets(folder: Path, *addresses: str) -> None:
    quoted = ", ".join(f'"{address}"' for address in addresses)
    (folder / "targets.json").write_text(f'[{{"targets": [{quoted}], "labels": {{"pool": "x"}}}}]')


class Daemon:
    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str, **parameters: str) -> Any:
        return requests.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=60).json()["data"]

    def up(self) -> dict[str, str]:
        found = self.get("query", query="up")["result"]
        return {one["metric"]["instance"]: one["value"][1] for one in found}

    def alerts(self) -> list[str]:
        return [one["labels"]["instance"] for one in self.get("alerts")["alerts"]]

    def metric(self, name: str) -> str:
        lines = requests.get(f"{self.url}/metrics", timeout=60).text.splitlines()
        return next((line.rpartition(" ")[2] for line in lines if line.startswith(name)), "")


def test_targets_come_and_go_in_a_file_and_an_alert_about_one_that_is_gone_is_over(tmp_path: Path) -> None:
    with serving(PAGE) as target:
        good = f"127.0.0.1:{target.port}"
        list_targets(tmp_path, "127.0.0.1:1", good)
        with started(write(tmp_path)) as (app, url):
            daemon = Daemon(url)
            until(lambda: daemon.up() == {"127.0.0.1:1": "0", good: "1"}, within=10)
            until(lambda: daemon.alerts() == ["127.0.0.1:1"], within=10)
            (tmp_path / "targets.json").write_text("[")
            until(lambda: daemon.metric('vllm_monitor_sd_failing{job="vllm",mechanism="file"}') == "1.0", within=10)
            assert daemon.metric("vllm_monitor_sd_refresh_failures_total") != ""
            assert daemon.metric("vllm_monitor_sd_targets") == "2.0"
            list_targets(tmp_path, good)
            until(lambda: daemon.up() == {good: "1"}, within=15)
            until(lambda: daemon.alerts() == [], within=5)
            # A reload that asks for the same targets in another way loses none of them on the way.
            write(tmp_path, "[{source_labels: [pool], target_label: team}, {regex: pool, action: labeldrop}]")
            assert app.reload() == ""
            active = daemon.get("targets")["activeTargets"]
            assert [one["labels"] for one in active] == [{"instance": good, "job": "vllm", "team": "x"}]
            assert active[0]["discoveredLabels"]["__meta_filepath"] == str(tmp_path / "targets.json")


def test_what_relabelling_drops_is_shown_with_what_was_known_of_it(tmp_path: Path) -> None:
    list_targets(tmp_path, "a:1")
    with started(write(tmp_path, "[{source_labels: [pool], regex: x, action: drop}]")) as (_, url):
        daemon = Daemon(url)
        until(lambda: daemon.get("targets")["droppedTargets"], within=10)
        shown = daemon.get("targets")
        assert shown["activeTargets"] == []
        (dropped,) = shown["droppedTargets"]
        assert dropped["scrapePool"] == "vllm"
        assert dropped["discoveredLabels"]["__address__"] == "a:1"
        assert shown["droppedTargetCounts"] == {"vllm": 1}
        assert daemon.get("targets", state="active")["droppedTargets"] == []
        assert daemon.get("targets", state="dropped", scrapePool="other")["droppedTargets"] == []
        assert daemon.get("scrape_pools") == {"scrapePools": ["vllm"]}


def test_after_a_restart_an_alert_stays_while_nobody_can_say_whether_its_target_is_still_there(tmp_path: Path) -> None:
    """The server that lists targets is away when the daemon comes back: what is not found is not gone."""
    answers = Answers()
    answers.body = '[{"targets": ["127.0.0.1:1"]}]'
    with served(answers) as url:
        config = write(tmp_path)
        config.write_text(
            config.read_text().replace(
                "file_sd_configs: [{files: [targets.json]}]",
                f"http_sd_configs: [{{url: '{url}', refresh_interval: 1s}}]",
            )
        )
        with started(config) as (_, base):
            until(lambda: Daemon(base).alerts() == ["127.0.0.1:1"], within=10)
            (before,) = Daemon(base).get("alerts")["alerts"]
        answers.status = 503
        with started(config) as (_, base):
            daemon = Daemon(base)
            until(lambda: requests.get(f"{base}/-/ready", timeout=60).ok, within=10)
            assert daemon.get("targets")["activeTargets"] == []
            assert daemon.get("alerts")["alerts"] == [before]
            answers.status = 200
            until(lambda: daemon.up() == {"127.0.0.1:1": "0"}, within=20)
            assert daemon.get("alerts")["alerts"] == [before]
