"""`vllm-monitor check --service-discovery`: what is found, what becomes of it, and why."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from monitor.cli import cli

CONFIG = """\
global: {scrape_interval: 15s}
scrape_configs:
  - job_name: vllm
    file_sd_configs: [{files: [t.json]}]
    relabel_configs:
      - {source_labels: [pool], target_label: team}
      - {source_labels: [team], regex: old, action: drop}
      - {source_labels: [rhythm], regex: (.+), target_label: __scrape_interval__}
"""


def check(folder: Path, targets: str, *options: str) -> Result:
    (folder / "monitor.yaml").write_text(CONFIG)
    (folder / "t.json").write_text(targets)
    return CliRunner().invoke(cli, ["check", "--service-discovery", str(folder / "monitor.yaml"), *options])


def test_each_target_stands_with_what_relabelling_made_of_it_and_what_it_was_found_with(tmp_path: Path) -> None:
    found = check(
        tmp_path,
        '[{"targets": ["a:1"], "labels": {"pool": "new"}}, {"targets": ["b:1"], "labels": {"pool": "old"}},'
        ' {"targets": ["c:1"], "labels": {"rhythm": "often"}}]',
    )
    discovered = f'__meta_filepath="{tmp_path}/t.json", __metrics_path__="/metrics", __scheme__="http", '
    discovered += '__scrape_interval__="15s", __scrape_timeout__="5s", job="vllm"'
    assert found.output.splitlines() == [
        'job "vllm": 3 found, 1 to scrape',
        '  http://a:1/metrics {instance="a:1", job="vllm", pool="new", team="new"}',
        f'      from {{__address__="a:1", {discovered}, pool="new"}}',
        '  dropped by relabel config 2 (drop of "old")',
        f'      from {{__address__="b:1", {discovered}, pool="old"}}',
        "  cannot be scraped: error parsing scrape interval: 'often' is not a duration (write 30s, 5m, 1h30m)",
        f'      from {{__address__="c:1", {discovered}, rhythm="often"}}',
    ]
    assert found.exit_code == 1


def test_as_json_it_is_what_promtool_prints_of_each_job(tmp_path: Path) -> None:
    found = check(tmp_path, '[{"targets": ["a:1"]}]', "--json")
    assert found.exit_code == 0
    (target,) = json.loads(found.output)["vllm"]
    assert target["discoveredLabels"]["__address__"] == "a:1"
    assert target["labels"]["instance"] == "a:1"


def test_a_search_that_fails_is_told_with_its_place(tmp_path: Path) -> None:
    found = check(tmp_path, '[{"targets": "a:1"}]')
    assert found.exit_code == 1
    assert f"file_sd_configs: {tmp_path}/t.json:1:14: target group 1: targets: must be a list" in found.output


def test_a_job_without_any_target_is_no_success(tmp_path: Path) -> None:
    assert check(tmp_path, "[]").exit_code == 1


def test_a_configuration_that_is_wrong_is_told_of_first(tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text("scrape_configs: [{job_name: a, relabel_configs: [{action: hashmod}]}]\n")
    found = CliRunner().invoke(cli, ["check", "--service-discovery", str(tmp_path / "monitor.yaml")])
    assert found.exit_code == 1
    assert "relabel config" in found.output
    assert "hashmod needs a modulus that is not 0" in found.output
