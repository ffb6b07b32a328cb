"""The Alertmanager configurations: taken by amtool, old and new, with nothing for a linter to say."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.tools import DEPLOY, ROOT, run
from tests.engines import engine

FILES = [DEPLOY / "alertmanager" / "alertmanager.yml", DEPLOY / "compose" / "alertmanager.yml"]
OPERATOR = DEPLOY / "kubernetes" / "components" / "operator" / "alertmanagerconfig.yaml"
# A receiver without an integration is meant: whoever has a dead man's switch puts its URL there. And an alert may mute
# itself at another severity: that its name is the same on both sides is what the rule is about.
MEANT = "empty-receiver,inhibit-same-match"


def amtool(path: Path, suite: str) -> "subprocess.CompletedProcess[str]":
    command = [engine("amtool", suite), "check-config", str(path)]
    # Without a home: amtool reads a configuration of its own from there.
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})


@pytest.mark.parametrize("suite", [pytest.param("", id="system"), pytest.param("newer", id="newer")])
def test_amtool_takes_them_and_not_a_broken_one(suite: str, tmp_path: Path) -> None:
    for path in FILES:
        done = amtool(path, suite)
        assert done.returncode == 0, done.stderr
    broken = tmp_path / "alertmanager.yml"
    broken.write_text(FILES[0].read_text().replace("receiver: vllm-monitor", "receiver: gone", 1))
    assert amtool(broken, suite).returncode != 0


def amlint(path: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return run("amlint", "check", "--strict", "--ignore", MEANT, *more, path)


@pytest.mark.parametrize("path", [*FILES, OPERATOR], ids=lambda path: str(path.relative_to(DEPLOY)))
def test_a_linter_finds_no_route_that_is_never_taken(path: Path) -> None:
    done = amlint(path)
    assert done.returncode == 0, done.stdout


def test_a_linter_finds_one_where_there_is_one(tmp_path: Path) -> None:
    broken = tmp_path / "alertmanager.yml"
    all_of_it = '  routes:\n    - matchers: [alertname=~".*"]\n      receiver: vllm-monitor\n'
    broken.write_text(FILES[0].read_text().replace("  routes:\n", all_of_it, 1))
    done = amlint(broken)
    assert done.returncode != 0
    assert "unreachable-route" in done.stdout


def test_the_watchdog_goes_where_it_is_missed_and_all_else_to_us() -> None:
    def routed(*labels: str) -> str:
        command = [engine("amtool", "newer"), "config", "routes", "test", f"--config.file={FILES[0]}", *labels]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert routed("alertname=VLLMMonitorWatchdog", "severity=none") == "dead-mans-switch"
    assert routed("alertname=VLLMOverloaded", "severity=critical") == "vllm-monitor"


def test_an_alertmanager_inhibits_as_the_daemon_does() -> None:
    shipped = yaml.safe_load((ROOT / "rules" / "inhibition.yaml").read_text())["inhibit_rules"]
    for path in FILES:
        assert yaml.safe_load(path.read_text())["inhibit_rules"] == shipped
