"""A value does what its comment says, and none stands there for nothing."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from monitor.commands.test import run_file
from monitor.rulebook.build import build, write
from monitor.rulebook.values import defaults, read_values
from monitor.shipped import rules_folder
from tests.engines import engine

MACROS = (Path(__file__).parents[2] / "monitor" / "rulebook" / "macros.py").read_text()

# Two servers go at 2:15 for eight minutes: one had nothing to do.
ROLLOUT = """
rule_files: [{rules}/availability.rules.yaml, {rules}/engine.rules.yaml]
evaluation_interval: 15s
group_eval_order: [vllm-engine, vllm-availability, vllm-restarts]
tests:
  - name: a rollout
    interval: 15s
    input_series:
      - {{series: 'up{{instance="idle:1"}}', values: "1x8 0x31 1x20"}}
      - {{series: 'vllm:num_requests_running{{instance="idle:1"}}', values: "0x8 stale"}}
      - {{series: 'vllm:num_requests_waiting{{instance="idle:1"}}', values: "0x8 stale"}}
      - {{series: 'up{{instance="busy:1"}}', values: "1x8 0x31 1x20"}}
      - {{series: 'vllm:num_requests_running{{instance="busy:1"}}', values: "2x8 stale"}}
      - {{series: 'vllm:num_requests_waiting{{instance="busy:1"}}', values: "0x8 stale"}}
    promql_expr_test:
      - expr: count by (instance) (max_over_time(ALERTS{{alertname="VLLMTargetDown", alertstate="firing"}}[15m]))
        eval_time: 12m
        exp_samples: {expected}
"""


@pytest.mark.parametrize(
    ("grace", "down"), [("0s", ("busy:1", "idle:1")), ("10m", ("busy:1",)), ("7m", ("busy:1", "idle:1"))]
)
def test_a_server_that_had_nothing_to_do_may_be_away_for_a_while(
    tmp_path: Path, grace: str, down: tuple[str, ...]
) -> None:
    write(build(read_values(None, [f"alerts.VLLMTargetDown.drained_grace={grace}"])), tmp_path)
    expected = [{"labels": f'{{instance="{instance}"}}', "value": 1} for instance in down]
    path = tmp_path / "rollout.test.yaml"
    path.write_text(ROLLOUT.format(rules=tmp_path, expected=expected))
    outcome = run_file(path, lambda _: True)
    assert outcome.good, outcome


# What is found is there before it is up: one loads for ten minutes, one never comes, one falls at 8:00.
FOUND = """
rule_files: [{rules}/availability.rules.yaml]
evaluation_interval: 15s
tests:
  - name: found
    interval: 15s
    input_series:
      - {{series: 'up{{instance="loads:1"}}', values: "0x39 1x160"}}
      - {{series: 'up{{instance="never:1"}}', values: "0x199"}}
      - {{series: 'up{{instance="falls:1"}}', values: "1x31 0x168"}}
    promql_expr_test:
      - expr: >-
          min by (instance) (
            min_over_time(timestamp(ALERTS{{alertname="VLLMTargetDown", alertstate="firing"}})[50m:15s])
          )
        eval_time: 50m
        exp_samples: {expected}
"""


@pytest.mark.parametrize(
    ("grace", "told"),
    [
        ("0s", {"falls:1": 570, "loads:1": 90, "never:1": 90}),
        ("15m", {"falls:1": 570, "never:1": 900}),
    ],
)
def test_what_was_never_up_may_load(tmp_path: Path, grace: str, told: Mapping[str, int]) -> None:
    write(build(read_values(None, [f"alerts.VLLMTargetDown.loading_grace={grace}"])), tmp_path)
    expected = [{"labels": f'{{instance="{instance}"}}', "value": at} for instance, at in told.items()]
    path = tmp_path / "found.test.yaml"
    path.write_text(FOUND.format(rules=tmp_path, expected=expected))
    outcome = run_file(path, lambda _: True)
    assert outcome.good, outcome
    check = [engine("promtool", "newer"), "test", "rules", str(path)]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0


def test_only_the_jobs_that_are_named_are_watched() -> None:
    files = build(read_values(None, ["job_regex=vllm-.+"]))
    text = files["availability.rules.yaml"]
    assert 'up{job=~"vllm-.+"} == 0' in text
    assert "up == " not in text
    # Many programs count their requests under this name.
    (requests,) = re.findall(r"http_requests_total\{[^}]*\}", "".join(files.values()))
    assert requests.endswith(',job=~"vllm-.+"}')


@pytest.mark.parametrize(("burn", "spent"), [("14.4", "2 days"), ("20", "36 hours"), ("190", "4 hours")])
def test_how_soon_a_budget_is_gone_is_told_in_a_unit_of_which_there_are_some(
    tmp_path: Path, burn: str, spent: str
) -> None:
    path = tmp_path / "values.yaml"
    path.write_text(
        "slos: [{name: a, of: availability, edge: 0, custom_edge: false, objective_ratio: 0.995, model_name: ''}]\n"
        f"slo_windows: [{{long: 1h, short: 5m, burn: {burn}, for: 2m, severity: critical}}]\n"
    )
    text = build(read_values(path))["slo.rules.yaml"]
    assert f"is gone within\n            {spent}." in text


def test_no_value_stands_there_for_nothing() -> None:
    """A template that names an alert reads each of its values, and each value that is no alert's is read by some."""
    source = rules_folder() / "source"
    texts = [path.read_text() for path in source.rglob("*.yaml") if path.name != "values.yaml"]
    texts.append(MACROS)
    keys = type(defaults()).fields_by_key().keys() - {"alerts"}
    idle = [key for key in keys if not any(re.search(rf"\b{key}\b", text) for text in texts)]
    alerts = getattr(defaults(), "alerts")  # noqa: B009 - a field of the file's schema, which mypy does not know
    for alert, values in ((name, getattr(alerts, name)) for name in type(alerts).model_fields):
        there = "\n".join(text for text in texts if alert in text)
        idle += [f"{alert}.{key}" for key in type(values).fields_by_key() if not re.search(rf"\.{key}\b", there)]
    assert idle == []
