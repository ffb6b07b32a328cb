"""Rules against targets: through recording rules, and over a fleet of servers that differ."""

from pathlib import Path

import pytest

from monitor.model.labels import Labels
from monitor.promql.needs import leaves
from monitor.rules.spec import AlertingRule, RecordingRule, RuleGroup
from monitor.sight.fleet import View
from monitor.sight.formulas import Formulas
from monitor.sight.offer import Offer
from monitor.sight.report import Report
from monitor.vllm.families import Engine
from tests.sight.seeing import TARGET, offered, read, recording
from tests.vllm.pages import page

OTHER = Labels.of(job="vllm", instance="gpu-2:8000")
DCGM = "# TYPE DCGM_FI_DEV_GPU_TEMP gauge\nDCGM_FI_DEV_GPU_TEMP 61\n"


def found(expr: str, *offers: Offer, records: RuleGroup | None = None) -> list[str]:
    """Return `instance: reason` for each server on which an alert with this expression is blind."""
    groups = [*([records] if records else []), RuleGroup("g", rules=(AlertingRule("A", expr),))]
    report = Report(groups, given=("vllm_monitor_scrapes_total",))
    findings = report.findings([View.of(offer, report.leaves) for offer in offers])
    return [f"{f.target.value('instance')}: {f.blind.reason.value}" for f in findings if f.rule == "A"]


NEW = offered(page("0.33.0"), version="0.33.0")
OLD = offered(page("0.8.5"), OTHER, version="0.8.5")


@pytest.mark.parametrize(
    ("expr", "blind"),
    [
        ("vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc", []),
        ("vllm:gpu_cache_usage_perc > 0.9", ["gpu-1:8000: renamed"]),
        ("vllm:num_requests_waiting > 1 and vllm:request_error_total > 1", ["gpu-1:8000: unknown"]),
        # What the server lacks does not hide what is wrong with the rule.
        ("vllm:lora_requests_info and vllm:request_error_total", ["gpu-1:8000: unknown"]),
        # Where one of two will do, the one that may come explains it.
        ("vllm:lora_requests_info or vllm:request_error_total", ["gpu-1:8000: condition"]),
        ("absent(vllm:gpu_cache_usage_perc)", []),
        ("vllm:num_requests_waiting unless vllm:gpu_cache_usage_perc", []),
        ("rate(vllm_monitor_scrapes_total[5m]) > 0", []),
        ('ALERTS{alertname="X"} and on () vllm:num_requests_running', []),
        ("rate(vllm_monitor_scrape_total[5m]) > 0", ["gpu-1:8000: missing"]),
        ("vllm:request_error_total or vllm:gpu_cache_usage_perc", ["gpu-1:8000: renamed"]),
    ],
)
def test_a_rule_is_blind_when_its_needs_are_not_met(expr: str, blind: list[str]) -> None:
    assert found(expr, NEW) == blind


def test_a_rule_is_blind_on_those_servers_that_have_another_version() -> None:
    assert found("vllm:kv_cache_usage_perc", NEW, OLD) == ["gpu-2:8000: renamed"]


def test_a_rule_about_one_server_is_not_blind_on_the_others() -> None:
    assert found('vllm:num_requests_running{instance="gpu-2:8000"}', NEW, OLD) == []
    assert found('vllm:num_requests_running{instance="gpu-3:8000"}', NEW, OLD) == [
        "gpu-1:8000: label",
        "gpu-2:8000: label",
    ]


def test_what_another_exporter_offers_counts_for_all() -> None:
    gpu = offered(DCGM, Labels.of(job="gpu", instance="gpu-1:9400"))
    assert found("DCGM_FI_DEV_GPU_TEMP > 85", NEW) == ["gpu-1:8000: condition"]
    assert found("DCGM_FI_DEV_GPU_TEMP > 85", NEW, gpu) == []


def test_servers_that_see_alike_are_told_each_by_its_name() -> None:
    twin = offered(page("0.33.0"), OTHER, version="0.33.0")
    assert found("vllm:gpu_cache_usage_perc", NEW, twin) == ["gpu-1:8000: renamed", "gpu-2:8000: renamed"]


def test_a_rule_is_blind_through_what_it_reads() -> None:
    records = recording(("kv", "vllm:gpu_cache_usage_perc"), ("kv:max", "max_over_time(kv[5m])"))
    assert found("kv:max > 0.9", NEW, records=records) == ["gpu-1:8000: renamed"]
    assert found("kv:max > 0.9", OLD, records=records) == []


def test_of_several_rules_that_record_one_name_one_will_do() -> None:
    records = recording(("kv", "vllm:gpu_cache_usage_perc"), ("kv", "vllm:kv_cache_usage_perc"))
    report = Report([records])
    assert report.findings([View.of(NEW, report.leaves), View.of(OLD, report.leaves)]) == ()


def test_only_what_is_recorded_with_the_labels_that_are_looked_for_counts() -> None:
    rules = (
        RecordingRule("kv", "vllm:gpu_cache_usage_perc", Labels.of(window="5m")),
        RecordingRule("kv", "vllm:kv_cache_usage_perc", Labels.of(window="1h")),
    )
    records = RuleGroup("records", rules=rules)
    assert found('kv{window="5m"} > 0.9', NEW, records=records) == ["gpu-1:8000: renamed"]
    assert found('kv{window="1h"} > 0.9', NEW, records=records) == []


def test_a_record_that_reads_itself_needs_what_else_it_reads() -> None:
    formulas = Formulas([recording(("last", "vllm:num_requests_running or last offset 1m"))])
    assert [str(leaf) for leaf in leaves(formulas.of("last > 1"))] == ["vllm:num_requests_running"]


def test_a_record_that_reads_nothing_but_itself_is_blind() -> None:
    assert found("last > 1", NEW, records=recording(("last", "last offset 1m"))) == ["gpu-1:8000: missing"]


def test_an_edge_that_is_asked_of_a_record_is_asked_of_its_buckets() -> None:
    records = recording(("ttft", "sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m]))"))
    assert found('ttft{le=~"2.5|2.50"} > 1', NEW, records=records) == []
    assert found('ttft{le="0.3"} > 1', NEW, records=records) == ["gpu-1:8000: bucket"]


def test_a_public_rule_is_named_with_its_group(tmp_path: Path) -> None:
    text = """
groups:
  - name: vllm
    rules:
      - alert: KVCacheFull
        expr: vllm:gpu_cache_usage_perc > 0.9
"""
    report = Report(read(tmp_path / "public.rules.yaml", text))
    (finding,) = report.findings([View.of(NEW, report.leaves)])
    assert (finding.target, finding.group, finding.rule) == (TARGET, "vllm", "KVCacheFull")


def test_a_server_that_shows_nothing_of_its_engine_explains_all_of_it() -> None:
    silent = offered(page("0.33.0", Engine.V1, stats=False), version="0.33.0")
    assert found("vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc", silent) == ["gpu-1:8000: stats_off"]
