"""The Prometheus configurations: real promtool, old and new, loads them with the shipped rules."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.tools import DEPLOY, ROOT
from tests.engines import engine

SUITES = [pytest.param("", id="system"), pytest.param("newer", id="newer")]


def promtool(path: Path, suite: str) -> "subprocess.CompletedProcess[str]":
    command = [engine("promtool", suite), "check", "config", "--lint=all", "--lint-fatal", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(params=["prometheus", "compose"])
def configuration(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the file with the rules where it looks for them; in a container they stand elsewhere than here."""
    path = tmp_path / "prometheus.yml"
    text = (DEPLOY / request.param / "prometheus.yml").read_text()
    for places in ("../../rules/", "/etc/prometheus/rules/"):
        text = text.replace(places, f"{ROOT / 'rules'}/")
    path.write_text(text)
    return path


@pytest.mark.parametrize("suite", SUITES)
def test_promtool_loads_it_with_every_rule_file(configuration: Path, suite: str) -> None:
    done = promtool(configuration, suite)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(list((ROOT / 'rules').glob('*.rules.yaml')))} rule files found" in done.stdout


@pytest.mark.parametrize("suite", SUITES)
def test_promtool_refuses_it_with_a_mistake(configuration: Path, suite: str) -> None:
    configuration.write_text(configuration.read_text().replace("honor_labels", "honour_labels"))
    assert promtool(configuration, suite).returncode != 0


def test_what_the_daemon_says_of_a_server_keeps_its_job_and_instance(configuration: Path) -> None:
    jobs = {one["job_name"]: one for one in yaml.safe_load(configuration.read_text())["scrape_configs"]}
    assert jobs["vllm-monitor"]["honor_labels"] is True
    assert "honor_labels" not in jobs["vllm"]


def test_the_file_finds_the_rules_of_its_checkout() -> None:
    assert promtool(DEPLOY / "prometheus" / "prometheus.yml", "").returncode == 0
