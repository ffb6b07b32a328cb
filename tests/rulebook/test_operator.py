"""Rules with a user's thresholds, for the Prometheus Operator."""

from pathlib import Path

import yaml
from typer.testing import CliRunner

from monitor.cli import cli


def test_a_file_of_values_becomes_objects(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    arguments = ["rules", "build", "--set", "job_regex=llm-.+", "--prometheus-rule", str(path)]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    objects = list(yaml.safe_load_all(path.read_text()))
    assert f"{len(objects)} PrometheusRules" in done.output
    assert {one["kind"] for one in objects} == {"PrometheusRule"}
    assert 'up{job=~"llm-.+"}' in path.read_text()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "rules.yaml"
    done = CliRunner().invoke(cli, ["rules", "build", "--prometheus-rule", str(path)])
    assert done.exit_code == 1
    assert str(path) in done.output
