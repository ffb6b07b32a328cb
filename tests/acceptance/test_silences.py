"""Posted alerts and silences in the daemon as its users run it: processes, real sockets, a kill."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.acceptance.daemon import PATIENCE, Daemon, daemon
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, TOKEN
from tests.waiting import until


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        yield stub


@pytest.fixture
def config(tmp_path: Path, slack: SlackStub) -> Path:
    (tmp_path / "token").write_text(TOKEN)
    path = tmp_path / "monitor.yaml"
    path.write_text(
        f"""\
global: {{slack_base_url: "{slack.base_url}", scrape_interval: 1m}}
rule_files: []
route: {{receiver: oncall, group_by: [alertname], group_wait: 100ms, group_interval: 200ms}}
receivers:
  - name: oncall
    slack_configs: [{{channel: {CHANNEL}, bot_token_file: token}}]
web: {{listen: 127.0.0.1:0}}
"""
    )
    return path


def post(to: Daemon, name: str, **more: str) -> None:
    alert = {"labels": {"alertname": name, "severity": "critical"}, "annotations": {"summary": f"{name} is posted"}}
    assert requests.post(f"{to.url}/api/v2/alerts", json=[alert | more], timeout=PATIENCE).ok


def command(to: Daemon, *arguments: str) -> str:
    program = str(Path(sys.executable).with_name("vllm-monitor"))
    done = subprocess.run([program, *arguments, "--url", to.url], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def told(slack: SlackStub, word: str) -> int:
    return sum(word in str(message) for message in slack.messages)


def test_a_posted_alert_is_told_soon_and_so_is_its_end(config: Path, tmp_path: Path, slack: SlackStub) -> None:
    with daemon(tmp_path, "--config", str(config)) as running:
        post(running, "Posted")
        until(lambda: told(slack, "Posted"), within=20)
        post(running, "Posted", endsAt="2026-01-01T00:00:00Z", startsAt="2025-01-01T00:00:00Z")
        # A message is not edited more often than every five seconds.
        until(lambda: told(slack, "esolved"), within=15)


def test_a_silence_outlives_a_kill_until_it_is_expired(config: Path, tmp_path: Path, slack: SlackStub) -> None:
    with daemon(tmp_path, "--config", str(config)) as first:
        silence = command(first, "silence", "add", "Noisy", "--comment", "known")
        first.end(signal.SIGKILL)
    with daemon(tmp_path, "--config", str(config)) as again:
        assert silence in command(again, "silence", "list")
        post(again, "Noisy")
        post(again, "Other")
        until(lambda: told(slack, "Other"), within=20)
        assert "silenced" in command(again, "alerts", "Noisy")
        assert told(slack, "Noisy") == 0
        command(again, "silence", "expire", silence)
        until(lambda: told(slack, "Noisy"), within=20)


def test_a_reload_keeps_alerts_and_silences_and_takes_new_rules_of_muting(
    config: Path, tmp_path: Path, slack: SlackStub
) -> None:
    with daemon(tmp_path, "--config", str(config)) as running:
        command(running, "silence", "add", "Noisy", "--comment", "known")
        post(running, "Noisy")
        rule = "inhibit_rules: [{source_matchers: [alertname=Noisy], target_matchers: [alertname=Other]}]\n"
        config.write_text(config.read_text() + rule)
        assert running.post("/-/reload") == (200, "")
        post(running, "Other")
        post(running, "Third")
        until(lambda: told(slack, "Third"), within=20)
        assert "inhibited by Noisy" in command(running, "alerts", "Other")
        assert (told(slack, "Noisy"), told(slack, "Other")) == (0, 0)
