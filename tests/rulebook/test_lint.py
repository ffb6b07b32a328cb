"""The lint complains of what cannot work, and of what does not help whoever it wakes; and of nothing else."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli import cli
from monitor.model.labels import Labels
from monitor.rulebook.lint.report import complaints
from monitor.rules.spec import AlertingRule, RecordingRule

TTFT = "rate(vllm:time_to_first_token_seconds_bucket[5m])"
ANNOTATIONS = {
    "summary": "The cache is full",
    "description": "It is full.\nTry first: a lower --max-num-seqs.",
    "value": "{{ $value }}",
    "threshold": "95%",
    "runbook_url": "https://example.org/docs/runbooks/README.md#vllmexample",
    "dashboard_url": "https://example.org/d/vllm-monitor-overview",
}


def alert(
    name: str = "VLLMExample",
    expr: str = "vllm_engine:kv_cache_usage:ratio > 0.95",
    severity: str = "warning",
    **annotations: str,
) -> AlertingRule:
    return AlertingRule(
        name, expr, labels=Labels.of(severity=severity), annotations=Labels.of({**ANNOTATIONS, **annotations})
    )


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("vllm_engine:kv_cache_usage:ratio > 95", ["a ratio of 0..1 is compared: > 95"]),
        ("vllm_engine:ttft_seconds:p95_5m > 2000", ["seconds are compared: > 2000"]),
        ("vllm_monitor_remote_write_behind_seconds > 2000", []),
        ("vllm:num_preemptions_total > 5", ["vllm:num_preemptions_total is read without rate"]),
        ("vllm:iteration_tokens_total_count > 5", ["vllm:iteration_tokens_total_count is read without rate"]),
        ("rate(vllm:num_requests_waiting[5m])", ["rate of vllm:num_requests_waiting, which is a gauge"]),
        (
            "rate(vllm:num_preemptions[5m])",
            ['no version of vLLM has vllm:num_preemptions (did you mean "vllm:num_preemptions_total"?)'],
        ),
        (
            "vllm_num_requests_running",
            ['no version of vLLM has vllm_num_requests_running (did you mean "vllm:num_requests_running"?)'],
        ),
        ("ray_vllm_request_error_count", ["no version of vLLM has ray_vllm_request_error_count"]),
        (
            f"histogram_quantile(0.9, sum by (model_name) ({TTFT}))",
            ["histogram_quantile of an aggregation that drops le"],
        ),
        (f"histogram_quantile(0.9, sum without (le) ({TTFT}))", ["histogram_quantile of an aggregation that drops le"]),
        (f"histogram_quantile(0.9, sum ({TTFT}))", ["histogram_quantile of an aggregation that drops le"]),
        # What is right.
        (f"histogram_quantile(0.9, sum by (le, model_name) ({TTFT}))", []),
        (f"histogram_quantile(0.9, sum without (engine) ({TTFT}))", []),
        (f"histogram_quantile(0.9, {TTFT})", []),
        ("ray_vllm_kv_cache_usage_perc or kserve_vllm:gpu_cache_usage_perc", []),
        ("vllm:num_requests_running and on (instance) vllm:prompt_tokens_total", []),
        ("count by (job) (vllm:prompt_tokens_total)", []),
        ("time() - vllm:prompt_tokens_created", []),
        ("changes(vllm:kv_cache_usage_perc[5m])", []),
        ("max_over_time(vllm_engine:ttft_seconds:p95_5m[5m]) > 250", []),
        ("count_over_time(vllm_engine:kv_cache_usage:ratio[15m]) > 20", []),
    ],
)
def test_a_fault_of_an_expression_is_told(expr: str, expected: list[str]) -> None:
    assert complaints(RecordingRule("a:b", expr)) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (alert(), []),
        (
            alert(expr="rate(vllm:num_preemptions_total[5m]) > 0.95"),
            ["an alert reads the raw vllm:num_preemptions_total"],
        ),
        (
            alert(expr="vllm_engine:kv_cache_usage:ratio > 0.9"),
            ["the threshold 95% is not in the expression"],
        ),
        (alert(threshold="full"), ["the threshold does not begin with a number"]),
        (alert(severity="page"), ["no severity of critical, warning, info, none"]),
        (alert("VLLMOther"), ["the runbook_url does not lead to the alert's heading"]),
        (alert(summary="{{ $value }} full"), ["the summary is not one line without values"]),
        (alert(value=""), ["no annotation value"]),
        (
            alert(description="It is full."),
            ['the last line of the description does not begin with "Try first: "'],
        ),
    ],
)
def test_what_an_alert_lacks_is_told(rule: AlertingRule, expected: list[str]) -> None:
    assert complaints(rule) == expected


def test_the_command_fails_for_faults_and_only_when_strict_for_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "own.rules.yaml"
    path.write_text("groups: [{name: g, rules: [{alert: A, expr: vllm:kv_cache_usage_perc > 90}]}]\n")
    done = CliRunner().invoke(cli, ["rules", "lint", str(path)])
    assert done.exit_code == 1
    assert f'{path}:1:1: group "g", "A": a ratio of 0..1 is compared: > 90\n' in done.stdout
    path.write_text("groups: [{name: g, rules: [{alert: A, expr: vllm:kv_cache_usage_perc > 0.9}]}]\n")
    assert CliRunner().invoke(cli, ["rules", "lint", str(path)]).exit_code == 0
    assert CliRunner().invoke(cli, ["rules", "lint", "--strict", str(path)]).exit_code == 1
