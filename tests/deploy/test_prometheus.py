"""The Prometheus configuration: real promtool, old and new, loads it with the shipped rules."""

import subprocess
from pathlib import Path

import pytest

from tests.engines import engine

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("suite", [pytest.param("", id="system"), pytest.param("newer", id="newer")])
def test_promtool_loads_it_with_every_rule_file(suite: str) -> None:
    path = ROOT / "deploy" / "prometheus" / "prometheus.yml"
    command = [engine("promtool", suite), "check", "config", "--lint=all", "--lint-fatal", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(list((ROOT / 'rules').glob('*.rules.yaml')))} rule files found" in done.stdout
