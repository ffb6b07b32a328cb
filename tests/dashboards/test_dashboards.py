"""The committed dashboards: what the code builds, and nothing that the SDK does not know."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.build import SURPLUS, files
from dashboards.thresholds import burn_rates, threshold
from monitor.rulebook.build import build
from monitor.rulebook.values import read_values
from monitor.shipped import shipped_dashboards
from tests.dashboards.queries import asked, dashboards, panels
from tests.rules.lint import names, numbers

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "dashboards").glob("*.json"))
DASHBOARDS = dashboards()

every_dashboard = pytest.mark.parametrize("dashboard", DASHBOARDS, ids=[path.stem for path in PATHS])


def test_the_committed_files_are_what_the_code_builds_however_often() -> None:
    built = files()
    assert {path.name: path.read_text() for path in PATHS} == built
    assert files() == built


def test_check_fails_on_a_file_that_the_code_does_not_build(tmp_path: Path) -> None:
    for path in (ROOT / "dashboards").glob("*.*"):
        (tmp_path / "dashboards").mkdir(exist_ok=True)
        (tmp_path / "dashboards" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "rules").symlink_to(ROOT / "rules")

    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dashboards.build", "--check"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert check().returncode == 0
    path = tmp_path / "dashboards" / "vllm-overview.json"
    path.write_text(path.read_text().replace("vLLM overview", "My overview"))
    drifted = check()
    assert (drifted.returncode, path.name in drifted.stderr) == (1, True)


def test_every_dashboard_is_part_of_the_package() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    packed = dict(
        re.findall(r'^"dashboards/(.+\.json)" = "monitor/shipped_dashboards/(.+\.json)"$', text, re.MULTILINE)
    )
    assert packed == {path.name: path.name for path in PATHS}
    assert [path.name for path in shipped_dashboards()] == sorted(packed)


@every_dashboard
def test_the_sdk_knows_every_key(dashboard: dict[str, Any]) -> None:
    again = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))
    assert _known(again) == _known(dashboard)


def _known(value: Any) -> Any:
    """Leave out what the SDK adds by itself."""
    if isinstance(value, dict):
        return {key: _known(inner) for key, inner in value.items() if key not in SURPLUS}
    return [_known(inner) for inner in value] if isinstance(value, list) else value


def test_no_two_dashboards_have_one_address_or_one_title() -> None:
    assert len({page["uid"] for page in DASHBOARDS}) == len({page["title"] for page in DASHBOARDS}) == len(PATHS) == 6
    assert {f"vllm-{page['uid'].removeprefix('vllm-monitor-')}.json" for page in DASHBOARDS} == {
        path.name for path in PATHS
    }


def test_every_query_is_told_with_its_variables_filled_in() -> None:
    found = asked()
    assert len(found) == sum(len(panel["targets"]) for page in DASHBOARDS for panel in panels(page))
    assert not [one for one in found if "$" in one.expr]
    (soon,) = (one for one in found if one.panel == "Busiest hour")
    assert (soon.dashboard, soon.ref_id, soon.kind) == ("vllm-monitor-capacity", "A", "instant")
    assert soon.expr.endswith("[1h:5m])")


def _lines(title: str) -> list[float]:
    (panel,) = (panel for page in DASHBOARDS for panel in panels(page) if panel["title"] == title)
    assert panel["fieldConfig"]["defaults"]["custom"]["thresholdsStyle"]["mode"] == "dashed"
    return [
        step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"] if step["value"] is not None
    ]


@pytest.mark.parametrize(
    ("title", "alerts"),
    [
        ("Requests", {"VLLMRequestsWaiting": "waiting"}),
        ("KV cache usage", {"VLLMKVCacheFull": "usage_ratio"}),
        ("Errors", {"VLLMErrorRateHigh": "error_ratio", "VLLMErrorRateCritical": "error_ratio"}),
        ("Drafts accepted", {"VLLMSpecDecodeAcceptanceLow": "acceptance_ratio"}),
        ("Temperature", {"VLLMGPUTemperatureHigh": "celsius"}),
    ],
)
def test_a_line_is_drawn_where_the_alert_fires(title: str, alerts: dict[str, str]) -> None:
    """What is drawn is what the rule that ships compares with, not only what a file of values says."""
    for alert, key in alerts.items():
        assert threshold(alert, key) in _lines(title)
        assert threshold(alert, key) in _compared_with(alert)


def test_the_lines_of_burn_rates_are_those_of_the_alerts() -> None:
    for window, rate in burn_rates().items():
        assert _lines(f"Burn over {window}") == [rate]
        assert any(rate * 0.005 == pytest.approx(number) for number in _compared_with("VLLMAvailabilityBudgetBurn"))


def _compared_with(alert: str) -> set[float]:
    documents = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in (ROOT / "rules").glob("*.rules.yaml")]
    rules = [rule for document in documents for group in document["groups"] for rule in group["rules"]]
    return {number for rule in rules if rule.get("alert") == alert for number in numbers(rule["expr"])}


def test_a_panel_reads_whatever_is_recorded_for_panels_alone() -> None:
    documents = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in (ROOT / "rules").glob("*.rules.yaml")]
    groups = [group for document in documents for group in document["groups"] if group["name"].endswith("-details")]
    recorded = {rule["record"] for group in groups for rule in group["rules"]}
    assert len(groups) == 2
    assert recorded - {name for one in asked() for name in names(one.expr)} == set()


def test_what_runbooks_call_a_panel_is_one() -> None:
    runbook = (ROOT / "docs" / "runbooks" / "README.md").read_text()
    titles = {panel["title"] for page in DASHBOARDS for panel in panels(page)}
    assert set(re.findall(r"Panel \*(.+?)\*", runbook)) <= titles


def test_an_alert_leads_to_a_dashboard_that_takes_its_labels() -> None:
    pages = {page["uid"]: {one["name"] for one in page["templating"]["list"]} for page in DASHBOARDS}
    texts = build(read_values(None), everything=True).values()
    found = [re.findall(r"dashboard_url: \S+/d/([\w-]+)(?:\?(\S+ .*))?$", text, re.MULTILINE) for text in texts]
    leads = [(uid, set(re.findall(r"var-(\w+)=", query))) for links in found for uid, query in links]
    assert {uid for uid, _ in leads} == pages.keys()
    assert [(uid, names) for uid, names in leads if not names <= pages[uid]] == []
