"""`check --config` of a configuration that asks a Prometheus."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from monitor.cli import cli
from tests.notify.endpoint import endpoint
from tests.slackstub.faults import Answer
from tests.upstream.asked import Answers

RULES = """\
groups:
  - name: busy
    rules:
      - {record: "vllm_engine:waiting", expr: "vllm:num_requests_waiting"}
      - {alert: Busy, expr: "vllm_engine:waiting > 5"}
      - {alert: Own, expr: "vllm_monitor_build_info == 0"}
"""


def checked(folder: Path, url: str, *options: str) -> Result:
    (folder / "own.rules.yaml").write_text(RULES)
    path = folder / "monitor.yaml"
    path.write_text(f"mode: prometheus\nprometheus: {{url: '{url}', timeout: 1m}}\nrule_files: [own.rules.yaml]\n")
    return CliRunner().invoke(cli, ["check", "--config", str(path), *options])


@pytest.mark.parametrize("loaded", [True, False])
def test_it_says_which_recorded_names_the_server_lacks(tmp_path: Path, *, loaded: bool) -> None:
    with endpoint(Answers(rules=["vllm_engine:waiting"] if loaded else [])) as served:
        done = checked(tmp_path, served.url)
        as_json: dict[str, Any] = json.loads(checked(tmp_path, served.url, "--json").stdout)
    assert done.exit_code == (0 if loaded else 1)
    if loaded:
        assert f"{served.url}: answers, and records what alerts read (1 names)" in done.stdout
    else:
        assert "1 of 1 recorded names that alerts read are missing" in done.stdout
        assert "  own.rules.yaml, group busy: vllm_engine:waiting" in done.stdout
    assert as_json["ok"] is loaded
    missing = [{"file": str(tmp_path / "own.rules.yaml"), "group": "busy", "names": ["vllm_engine:waiting"]}]
    assert as_json["prometheus"] == {
        "server": served.url,
        "error": "",
        "recorded": 1,
        "missing": [] if loaded else missing,
    }


def test_a_server_that_does_not_answer_is_told(tmp_path: Path) -> None:
    with endpoint(Answers(fault=Answer(401, "who are you?"))) as served:
        done = checked(tmp_path, served.url)
    assert done.exit_code == 1
    assert "answers 401: it wants other credentials" in done.stdout
