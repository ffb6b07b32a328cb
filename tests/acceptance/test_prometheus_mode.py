"""`mode: prometheus`: a real Prometheus scrapes and records; alerts, routes and Slack are ours."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

from monitor.simulator.server import SimulatedServer
from tests.acceptance.daemon import SOON, Daemon, daemon
from tests.differential.server import prometheus
from tests.engines import engine
from tests.notify.endpoint import Endpoint, Received, endpoint
from tests.slackstub.faults import Answer
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until

RULES = """\
groups:
  - name: recorded
    rules:
      # One scrape that fails, because the machine had something else to do, is no end of the alert.
      - {record: "vllm_engine:requests_running", expr: "max_over_time(vllm:num_requests_running[1m])"}
  - name: alerts
    rules:
      - alert: Busy
        expr: vllm_engine:requests_running >= 0
        labels: {severity: critical}
        annotations: {summary: "{{ $labels.instance }} is busy", description: "Try first: look at it"}
      - alert: Itself
        expr: vllm_monitor_build_info > 0
        labels: {severity: info}
      # Named otherwise since vLLM 0.11.
      - {alert: Blinded, expr: "vllm:gpu_cache_usage_perc > 2"}
"""
THEIRS = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{target}"]}}]}}]
"""
OURS = """\
mode: prometheus
prometheus: {{url: "{prometheus}", timeout: 2s}}
global: {{slack_base_url: "{slack}", evaluation_interval: 1s}}
rule_files: [rules.yaml]
route: {{receiver: oncall, group_by: [alertname], group_wait: 0s, group_interval: 1s}}
receivers: [{{name: oncall, slack_configs: [{{channel: {channel}, bot_token_file: token, graphs: false}}]}}]
heartbeat: {{url: "{beats}", interval: 1s}}
web: {{listen: 127.0.0.1:0}}
"""


@dataclass(frozen=True)
class Both:
    ours: Daemon
    slack: SlackStub
    beats: Endpoint

    def states(self) -> dict[str, str]:
        return {alert["labels"]["alertname"]: alert["state"] for alert in self.ours.data("/api/v1/alerts")["alerts"]}

    def health(self) -> dict[str, str]:
        groups = self.ours.data("/api/v1/rules")["groups"]
        return {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}

    def metric(self, name: str) -> float:
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.ours.get("/metrics"), re.MULTILINE)
        assert found, name
        return float(found[1])


@contextmanager
def both(folder: Path, theirs: str) -> Iterator[Both]:
    """A daemon that asks the server at the address `theirs`."""
    (folder / "token").write_text(TOKEN)
    with SlackStub() as slack, endpoint() as beats:
        config = folder / "monitor.yaml"
        config.write_text(OURS.format(prometheus=theirs, slack=slack.base_url, channel=CHANNEL, beats=beats.url))
        with daemon(folder, "--config", str(config)) as ours:
            yield Both(ours, slack, beats)


def test_what_prometheus_records_fires_here_and_stays_when_it_goes(tmp_path: Path, vllm: SimulatedServer) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    told = THEIRS.format(rules=rules, target=vllm.url.removeprefix("http://"))
    (tmp_path / "theirs").mkdir()
    with ExitStack() as life:
        theirs = life.enter_context(prometheus(engine("prometheus", "newer"), tmp_path / "theirs", told))
        with both(tmp_path, theirs.url) as found:
            until(lambda: found.states() == {"Busy": "firing", "Itself": "firing"}, within=20)
            until(lambda: len(found.slack.messages) == 2, within=20)
            assert "is busy" in json.dumps([message.payload for message in found.slack.messages])
            # What Prometheus records is not recorded here, and what only we know is not asked of it.
            until(lambda: found.health() == {"Busy": "ok", "Itself": "ok", "Blinded": "ok"}, within=20)
            until(lambda: "vllm_monitor_rule_blind{" in found.ours.get("/metrics"), within=20)
            answer = found.ours.data("/api/v1/query?query=vllm_engine:requests_running")
            assert [one["metric"]["job"] for one in answer["result"]] == ["vllm"]
            until(lambda: found.metric("vllm_monitor_prometheus_up") == 1, within=20)
            until(lambda: found.beats.requests, within=20)
            life.close()
            until(lambda: found.health() == {"Busy": "err", "Itself": "ok", "Blinded": "err"}, within=20)
            assert found.states() == {"Busy": "firing", "Itself": "firing"}
            assert found.metric("vllm_monitor_prometheus_up") == 0
            assert found.metric('vllm_monitor_prometheus_query_failures_total{reason="unreachable"}') > 0
            assert not any("RESOLVED" in json.dumps(request.payload) for request in found.slack.requests)
            # Nobody sees whether vLLM serves: whoever waits for a sign of life must hear of it.
            until(lambda: 'heartbeats_withheld_total{reason="no_scrapes"}' in found.ours.get("/metrics"), within=20)
            code, took = found.ours.end()
            assert (code, took < SOON) == (0, True)


def answering(results: dict[str, list[str]]) -> Callable[[Received], Answer]:
    """Return a server that finds these instances by these expressions."""

    def answer(request: Received) -> Answer:
        expr = parse_qs(request.body.decode()).get("query", [""])[0]
        found = [{"metric": {"instance": name}, "value": [0, "1"]} for name in results.get(expr, [])]
        data = {"resultType": "vector", "result": found, "groups": []}
        return Answer(200, json.dumps({"status": "success", "data": data}))

    return answer


def test_an_alert_outlives_a_reload_onto_a_server_that_has_nothing_yet(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    busy = "vllm_engine:requests_running >= 0"
    with (
        endpoint(answering({busy: ["a"]})) as full,
        endpoint(answering({})) as empty,
        both(tmp_path, full.url) as found,
    ):
        until(lambda: found.states() == {"Busy": "firing", "Itself": "firing"}, within=20)
        config = tmp_path / "monitor.yaml"
        written = config.read_text().replace(full.url, empty.url)
        job = "scrape_configs: [{job_name: vllm, static_configs: [{targets: [a]}]}]"
        config.write_text("\n".join([job, *written.splitlines()[2:]]))
        status, text = found.ours.post("/-/reload")
        assert (status, "mode cannot change" in text) == (400, True), text
        config.write_text(written)
        assert found.ours.post("/-/reload") == (200, "")
        until(lambda: [parse_qs(one.body.decode()).get("query") for one in empty.requests].count([busy]) > 2, within=20)
        assert found.states()["Busy"] == "firing"
