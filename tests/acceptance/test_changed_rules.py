"""Rules that change while an alert fires: over a restart and over a reload, its receivers hear how it ends."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import daemon
from tests.acceptance.stage import write_config
from tests.acceptance.test_daemon import ALWAYS
from tests.slackstub.stub import SlackStub
from tests.waiting import until

OTHER = ALWAYS.replace("alert: Always", "alert: Other").replace(">= 0", "< 0")


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        yield stub


def assert_over(slack: SlackStub) -> None:
    """The message has turned green, and its thread has the one reply that says so."""
    root, reply = slack.messages
    assert root.text.startswith("✅ RESOLVED: ")
    assert "Always" in json.dumps(root.payload)
    assert (reply.thread_ts, reply.text.partition("*")[2].partition("*")[0]) == (root.ts, "Resolved")


def test_receivers_hear_that_an_alert_is_over_whose_rule_was_removed_while_the_daemon_was_down(
    tmp_path: Path, slack: SlackStub
) -> None:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm:
        config = write_config(tmp_path, vllm.url.removeprefix("http://"), slack)
        config.write_text(config.read_text() + 'rule_files: ["own.rules.yaml"]\n')
        rules = tmp_path / "own.rules.yaml"
        rules.write_text(ALWAYS)
        with daemon(tmp_path, "--config", str(config)) as ours:
            until(lambda: slack.messages, within=20)
            until(ours.is_ready, within=30)
            ours.end(signal.SIGKILL)
        rules.write_text(OTHER)
        with daemon(tmp_path, "--config", str(config)):
            until(lambda: len(slack.messages) == 2, within=30)
        assert_over(slack)


def test_a_reload_that_moves_the_rule_tells_nobody_anything(tmp_path: Path, slack: SlackStub) -> None:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm:
        config = write_config(tmp_path, vllm.url.removeprefix("http://"), slack)
        config.write_text(config.read_text() + 'rule_files: ["own.rules.yaml"]\n')
        rules = tmp_path / "own.rules.yaml"
        rules.write_text(ALWAYS)
        with daemon(tmp_path, "--config", str(config)) as ours:
            until(lambda: slack.messages, within=20)
            rules.write_text(ALWAYS.replace("name: always", "name: renamed"))
            assert ours.post("/-/reload") == (200, "")
            until(lambda: ours.data("/api/v1/alerts")["alerts"], within=30)
            (group,) = ours.data("/api/v1/rules")["groups"]
            assert (group["name"], group["rules"][0]["state"]) == ("renamed", "firing")
            rules.write_text(OTHER)
            assert ours.post("/-/reload") == (200, "")
            until(lambda: len(slack.messages) == 2, within=30)
        assert_over(slack)


def test_a_reload_that_groups_otherwise_leaves_no_message_red_for_ever(tmp_path: Path, slack: SlackStub) -> None:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm:
        config = write_config(tmp_path, vllm.url.removeprefix("http://"), slack)
        config.write_text(config.read_text() + 'rule_files: ["own.rules.yaml"]\n')
        (tmp_path / "own.rules.yaml").write_text(ALWAYS)
        with daemon(tmp_path, "--config", str(config)) as ours:
            until(lambda: slack.messages, within=20)
            config.write_text(config.read_text().replace("[alertname, model_name]", "[instance]"))
            assert ours.post("/-/reload") == (200, "")
            # The new one, and in the thread of the old one that it moved.
            until(lambda: len(slack.messages) == 3, within=30)
            until(lambda: slack.messages[0].edits, within=30)
    old, *others = slack.messages
    assert old.text.startswith("⚪ MOVED: ")
    (new,) = [message for message in others if not message.thread_ts]
    assert new.text[0] == "🔴"
