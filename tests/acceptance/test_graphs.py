"""Graphs in the daemon as its users run it: the alert is there whatever becomes of them, and the daemon stays small."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import SOON, Daemon, daemon
from tests.acceptance.stage import write_config
from tests.slackstub.faults import Hang
from tests.slackstub.judge import assert_invariants
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import CHANNEL, SCOPES, TOKEN, File
from tests.waiting import until

# One scrape that fails, because the machine had something else to do, is no end of any alert.
RULES = """\
groups:
  - name: g
    interval: 1s
    rules:
      - alert: Always
        expr: max_over_time(vllm:num_requests_running[1m]) >= 0
        labels: {severity: critical}
        annotations: {summary: "$it_1$ <!channel> fires"}
      - {alert: Later, expr: "max_over_time(vllm:num_requests_running[1m]) >= 0", for: 3s}
"""
# Megabytes; matplotlib and numpy take forty and more.
ROOM = 15


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        stub.workspace.tokens[TOKEN] = frozenset((*SCOPES, "files:write"))
        yield stub


@pytest.fixture
def config(tmp_path: Path, slack: SlackStub) -> Iterator[Path]:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as vllm:
        path = write_config(tmp_path, vllm.url.removeprefix("http://"), slack)
        (tmp_path / "own.rules.yaml").write_text(RULES)
        path.write_text(
            path.read_text().replace("5s", "1s").replace("graphs: false", "graphs: true")
            + 'rule_files: ["*.rules.yaml"]\n'
        )
        yield path


def roots(slack: SlackStub) -> dict[str, str]:
    """Return the time stamps of the messages in the channel, by their first lines."""
    return {message.text.splitlines()[0]: message.ts for message in slack.messages if not message.thread_ts}


def shared(slack: SlackStub) -> list[File]:
    return [file for file in slack.workspace.files.values() if file.channel]


def metric(ours: Daemon, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", ours.get("/metrics"), re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_a_graph_stands_in_the_thread_of_each_incident_and_the_daemon_stays_small(
    tmp_path: Path, slack: SlackStub, config: Path
) -> None:
    with daemon(tmp_path, "--config", str(config)) as ours:
        until(lambda: slack.messages, within=30)
        before = metric(ours, "process_resident_memory_bytes")
        until(lambda: len(shared(slack)) == 2, within=75)
        assert [file.channel for file in shared(slack)] == [CHANNEL, CHANNEL]
        assert {file.thread_ts for file in shared(slack)} == set(roots(slack).values())
        assert all(file.content.startswith(b"\x89PNG") for file in shared(slack))
        until(lambda: metric(ours, "vllm_monitor_graphs_total") == 2, within=20)
        assert metric(ours, "process_resident_memory_bytes") - before < ROOM * 1_000_000
        loaded = Path(f"/proc/{ours.process.pid}/maps").read_text()
        assert "matplotlib" not in loaded
        assert "numpy" not in loaded
        assert "no graph" not in ours.log
    assert_invariants(slack)


def test_the_alerts_are_there_although_drawing_hangs_and_the_daemon_ends_in_time(
    tmp_path: Path, slack: SlackStub, config: Path
) -> None:
    # What the child finds in the place of matplotlib.
    (tmp_path / "slow" / "matplotlib").mkdir(parents=True)
    (tmp_path / "slow" / "matplotlib" / "__init__.py").write_text(
        "import pathlib, time\npathlib.Path('drawing').touch()\ntime.sleep(600)\n"
    )
    with daemon(tmp_path, "--config", str(config), PYTHONPATH=str(tmp_path / "slow")) as ours:
        until((tmp_path / "drawing").exists, within=15)
        until(lambda: len(roots(slack)) == 2, within=30)
        assert shared(slack) == []
        code, took = ours.end()
        assert (code, took < SOON) == (0, True)
    assert_invariants(slack)


def test_an_upload_that_hangs_holds_up_no_alert(tmp_path: Path, slack: SlackStub, config: Path) -> None:
    # Each that has waited too long would be followed by the next one.
    slack.fail_next(*[Hang(applied=False)] * 10, method="upload")
    with daemon(tmp_path, "--config", str(config)) as ours:
        until(lambda: any(request.name == "upload" for request in slack.requests), within=20)
        until(lambda: len(roots(slack)) == 2, within=30)
        assert shared(slack) == []
        code, took = ours.end()
        assert (code, took < SOON) == (0, True)
    assert_invariants(slack)


def test_without_the_scope_the_alerts_are_there_and_the_log_says_why_there_are_no_graphs(
    tmp_path: Path, slack: SlackStub, config: Path
) -> None:
    slack.workspace.tokens[TOKEN] = frozenset(SCOPES)
    with daemon(tmp_path, "--config", str(config)) as ours:
        until(lambda: len(roots(slack)) == 2, within=20)
        until(lambda: metric(ours, 'vllm_monitor_graphs_failed_total{reason="credential"}') == 1, within=20)
        assert ours.log.count("lacks the scope files:write") == 1


def test_where_graphs_are_off_slack_is_asked_for_none(tmp_path: Path, slack: SlackStub, config: Path) -> None:
    config.write_text(config.read_text().replace("graphs: true", "graphs: false"))
    with daemon(tmp_path, "--config", str(config)):
        until(lambda: len(roots(slack)) == 2, within=20)
    # A message that has stood for a while is brought up to date.
    assert {request.name for request in slack.requests} <= {"chat.postMessage", "chat.update"}
