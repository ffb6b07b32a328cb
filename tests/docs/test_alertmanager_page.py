"""docs/alertmanager.md: what it says to write is taken, by us and by a real amtool, and its metrics are ours."""

import re
import subprocess
from pathlib import Path

import yaml

from monitor.config.read import load
from monitor.ownnames import own_names
from tests.engines import engine

PAGE = (Path(__file__).parents[2] / "docs" / "alertmanager.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
THEIRS, OURS = BLOCKS[0], BLOCKS[1:]


def test_alertmanager_takes_its_part(tmp_path: Path) -> None:
    path = tmp_path / "alertmanager.yml"
    path.write_text(THEIRS + "route: {receiver: slack}\n")
    command = [engine("amtool", "newer"), "check-config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_we_take_ours(tmp_path: Path) -> None:
    for number, block in enumerate(OURS):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block)
        assert load(path) is not None
    assert len(OURS) == 3


def test_both_sides_show_and_expect_the_same() -> None:
    (hook,) = yaml.safe_load(THEIRS)["receivers"][0]["webhook_configs"]
    ours = yaml.safe_load(OURS[0])
    assert hook["http_config"]["authorization"] == ours["alerting"]["webhook"]["authorization"]
    assert hook["url"].rpartition("/")[2] == ours["receivers"][0]["name"]


def test_the_metrics_that_it_names_are_there() -> None:
    named = set(re.findall(r"vllm_monitor_\w+", PAGE))
    assert len(named) > 6
    # Of a summary the name stands for all of its series.
    assert {name for name in named if name not in own_names()} <= {"vllm_monitor_alertmanager_latency_seconds"}
