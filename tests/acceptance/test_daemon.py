"""The daemon as its users run it: a process, real sockets, signals."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.simulator.server import SimulatedServer
from tests.acceptance.daemon import SOON, daemon
from tests.acceptance.stage import write_config
from tests.slackstub.faults import Answer
from tests.slackstub.stub import SlackStub
from tests.waiting import until

ALWAYS = """\
groups:
  - name: always
    rules:
      - alert: Always
        expr: vllm:num_requests_running >= 0
        labels: {severity: critical}
        annotations: {summary: "it <!channel> always fires on {{ $labels.instance }}"}
"""


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        yield stub


def address(server: SimulatedServer) -> str:
    return server.url.removeprefix("http://")


def test_from_a_configuration_to_a_message_in_slack(tmp_path: Path, vllm: SimulatedServer, slack: SlackStub) -> None:
    config = write_config(tmp_path, address(vllm), slack)
    (tmp_path / "own.rules.yaml").write_text(ALWAYS)
    config.write_text(config.read_text() + 'rule_files: ["*.rules.yaml"]\n')
    with daemon(tmp_path, "--config", str(config)) as ours:
        until(lambda: slack.messages, within=30)
        (message,) = slack.messages
        assert message.channel == "C0123456789"
        assert "it &lt;!channel&gt; always fires" in json.dumps(message.payload)
        assert "<!channel>" not in json.dumps(message.payload)
        until(ours.is_ready, within=20)
        (alert,) = ours.data("/api/v1/alerts")["alerts"]
        assert (alert["state"], alert["labels"]["alertname"], alert["value"]) == ("firing", "Always", "0e+00")
        (group,) = ours.data("/api/v1/rules?type=alert")["groups"]
        assert [(rule["name"], rule["state"], rule["health"]) for rule in group["rules"]] == [
            ("Always", "firing", "ok")
        ]
        (target,) = ours.data("/api/v1/targets")["activeTargets"]
        assert (target["health"], target["labels"]["job"]) == ("up", "vllm")
        # Slack has a message before the daemon has its answer.
        until(lambda: 'vllm_monitor_notifications_total{integration="oncall/slack[0]"} 1.0' in ours.get("/metrics"), 20)
        code, took = ours.end()
        assert code == 0
        assert took < SOON


def test_a_restart_does_not_tell_slack_again(tmp_path: Path, vllm: SimulatedServer, slack: SlackStub) -> None:
    config = write_config(tmp_path, address(vllm), slack)
    (tmp_path / "own.rules.yaml").write_text(ALWAYS)
    config.write_text(config.read_text() + 'rule_files: ["*.rules.yaml"]\n')
    for _ in range(2):
        with daemon(tmp_path, "--config", str(config)) as ours:
            until(lambda: slack.messages, within=30)
            until(ours.is_ready, within=20)
            ours.end(signal.SIGKILL)
    assert len(slack.messages) == 1


def test_without_a_file_flags_and_variables_are_all(tmp_path: Path, vllm: SimulatedServer, slack: SlackStub) -> None:
    with daemon(tmp_path, "--target", vllm.url, "--listen", "127.0.0.1:0", SLACK_WEBHOOK_URL=slack.webhook_url) as ours:
        until(ours.is_ready, within=30)
        (target,) = ours.data("/api/v1/targets")["activeTargets"]
        assert target["scrapeUrl"] == vllm.url + "/metrics"
        assert slack.webhook_url not in ours.get("/metrics") + ours.log
        assert {group["name"] for group in ours.data("/api/v1/rules")["groups"]} >= {"vllm-engine", "vllm-availability"}
        assert (tmp_path / "data" / "monitor.db").exists()


def test_a_bad_reload_keeps_the_old_configuration_and_says_so(
    tmp_path: Path, vllm: SimulatedServer, slack: SlackStub
) -> None:
    config = write_config(tmp_path, address(vllm), slack)
    good = config.read_text()
    with daemon(tmp_path, "--config", str(config)) as ours:
        until(ours.is_ready, within=30)
        config.write_text(good.replace("scrape_interval", "scrape_intervall"))
        status, text = ours.post("/-/reload")
        assert status == 400
        assert re.search(r'monitor.yaml:1:\d+: global: .*scrape_intervall.*did you mean "scrape_interval"', text)
        ours.process.send_signal(signal.SIGHUP)
        until(lambda: ours.log.count("reload refused") == 2, within=20)
        assert "vllm_monitor_config_last_reload_successful 0.0" in ours.get("/metrics")
        assert len(ours.data("/api/v1/targets")["activeTargets"]) == 1
        config.write_text(good.replace(f'["{address(vllm)}"]', f'["{address(vllm)}", "127.0.0.1:1"]'))
        assert ours.post("/-/reload") == (200, "")
        assert "vllm_monitor_config_last_reload_successful 1.0" in ours.get("/metrics")
        assert len(ours.data("/api/v1/targets")["activeTargets"]) == 2
        until(
            lambda: {one["health"] for one in ours.data("/api/v1/targets")["activeTargets"]} == {"up", "down"}, within=8
        )


def test_slack_down_stops_nothing_and_what_it_missed_comes_when_it_is_back(
    tmp_path: Path, vllm: SimulatedServer, slack: SlackStub
) -> None:
    config = write_config(tmp_path, address(vllm), slack)
    (tmp_path / "own.rules.yaml").write_text(ALWAYS)
    config.write_text(config.read_text() + 'rule_files: ["*.rules.yaml"]\n')
    slack.fail_next(*unavailable(3))
    with daemon(tmp_path, "--config", str(config)) as ours:
        until(lambda: slack.messages, within=25)
        assert [request.name for request in slack.requests] == [
            "chat.postMessage",
            # A 503 may come after the deed: it looks before it posts again.
            "conversations.history",
            "conversations.history",
            "conversations.history",
            "chat.postMessage",
        ]
        assert re.search(
            r'notifications_failed_total\{integration="oncall/slack\[0\]",reason="\w+"\} 3.0', ours.get("/metrics")
        )
        assert ours.log.count("not notified") == 1


def unavailable(times: int) -> list[Any]:
    return [Answer(503, "")] * times


def taken(config: str) -> str:
    """Return the address of the stub of Slack, which is in use."""
    return str(re.findall(r"//(127.0.0.1:\d+)/", config)[0])


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        pytest.param(lambda text: text.replace("oncall,", "onkall,"), 'receiver "onkall" is not defined', id="config"),
        pytest.param(lambda text: text.replace("./data", "/dev/null/data"), "/dev/null/data", id="storage"),
        pytest.param(lambda text: text.replace("127.0.0.1:0", taken(text)), "cannot listen on 127.0.0.1:", id="port"),
    ],
)
def test_what_keeps_the_daemon_from_starting_is_said_in_one_message(
    tmp_path: Path, slack: SlackStub, break_it: Callable[[str], str], words: str
) -> None:
    config = write_config(tmp_path, "127.0.0.1:1", slack)
    config.write_text(break_it(config.read_text()))
    command = [str(Path(sys.executable).with_name("vllm-monitor")), "run", "--config", str(config)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_level_that_there_is_not_is_refused_with_those_there_are() -> None:
    command = [str(Path(sys.executable).with_name("vllm-monitor")), "run", "--log-level", "loud"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "debug" in done.stderr
    assert "Traceback" not in done.stderr
