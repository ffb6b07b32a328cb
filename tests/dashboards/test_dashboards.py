"""The committed dashboards: current, well made, and reading nothing that is not recorded."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.build import SURPLUS, files
from dashboards.thresholds import threshold
from tests.dashboards.queries import Panel, expressions, panels
from tests.rules.lint import names

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "dashboards").glob("*.json"))
DASHBOARDS = [json.loads(path.read_text()) for path in PATHS]
PANELS = [pytest.param(panel, id=panel["title"]) for dashboard in DASHBOARDS for panel in panels(dashboard)]
UNITS = {"none", "short", "s", "percentunit", "ops", "reqps"}

every_dashboard = pytest.mark.parametrize("dashboard", DASHBOARDS, ids=[path.stem for path in PATHS])
every_panel = pytest.mark.parametrize("panel", PANELS)


def test_the_committed_files_are_what_the_code_builds() -> None:
    assert {path.name: path.read_text() for path in PATHS} == files()


def test_check_fails_on_a_file_that_the_code_does_not_build(tmp_path: Path) -> None:
    for path in (ROOT / "dashboards").glob("*.*"):
        (tmp_path / "dashboards").mkdir(exist_ok=True)
        (tmp_path / "dashboards" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "rules").symlink_to(ROOT / "rules")

    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dashboards.build", "--check"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert check().returncode == 0
    path = tmp_path / "dashboards" / PATHS[0].name
    path.write_text(path.read_text().replace("vLLM overview", "My overview"))
    drifted = check()
    assert (drifted.returncode, PATHS[0].name in drifted.stderr) == (1, True)


@every_dashboard
def test_the_sdk_knows_every_key(dashboard: dict[str, Any]) -> None:
    again = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))
    assert _known(again) == _known(dashboard)


def _known(value: Any) -> Any:
    """Leave out what the SDK adds by itself."""
    if isinstance(value, dict):
        return {key: _known(inner) for key, inner in value.items() if key not in SURPLUS}
    return [_known(inner) for inner in value] if isinstance(value, list) else value


@every_dashboard
def test_a_dashboard_can_be_provisioned_and_linked_to(dashboard: dict[str, Any]) -> None:
    assert re.fullmatch(r"[a-z0-9-]{1,40}", dashboard["uid"])
    assert (dashboard["schemaVersion"], dashboard["editable"], dashboard["graphTooltip"]) == (41, False, 1)
    assert "vllm" in dashboard["tags"]
    assert dashboard["links"][0]["keepTime"]
    assert dashboard["links"][0]["includeVars"]
    assert [panel["id"] for panel in dashboard["panels"]] == list(range(1, len(dashboard["panels"]) + 1))


@every_dashboard
def test_a_reader_chooses_the_data_source_the_job_the_model_and_the_instance(dashboard: dict[str, Any]) -> None:
    source, *labels = dashboard["templating"]["list"]
    assert (source["type"], source["name"], source["label"]) == ("datasource", "datasource", "Data source")
    assert [variable["name"] for variable in labels] == ["job", "model_name", "instance"]
    for variable in labels:
        assert (variable["multi"], variable["includeAll"], variable["allValue"]) == (True, True, ".+")
        assert (variable["refresh"], variable["datasource"]["uid"]) == (2, "${datasource}")


@every_dashboard
def test_no_two_panels_have_one_title_or_one_place(dashboard: dict[str, Any]) -> None:
    titles = [panel["title"] for panel in panels(dashboard)]
    assert len(titles) == len(set(titles))
    cells = [
        (at["x"] + x, at["y"] + y)
        for at in (panel["gridPos"] for panel in dashboard["panels"])
        for x in range(at["w"])
        for y in range(at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@every_panel
def test_a_panel_says_what_it_shows_in_a_unit_that_grafana_has(panel: Panel) -> None:
    unit = panel["fieldConfig"]["defaults"]["unit"]
    assert panel["title"]
    assert panel["description"]
    assert unit in UNITS or unit.startswith("suffix: ")
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


@every_panel
def test_a_query_parses_and_is_narrowed_by_job_and_instance(panel: Panel) -> None:
    assert panel["targets"]
    for target, expr in zip(panel["targets"], expressions(panel), strict=True):
        promql_parser.parse(expr)
        selectors = re.findall(r"\{([^}]*)\}", target["expr"])
        assert selectors
        assert all('job=~"$job", instance=~"$instance"' in selector for selector in selectors)
        assert target["legendFormat"]


@every_panel
def test_a_query_reads_recorded_names_only(panel: Panel) -> None:
    documents = [yaml.safe_load(path.read_text()) for path in (ROOT / "rules").glob("*.rules.yaml")]
    rules = [rule for document in documents for group in document["groups"] for rule in group["rules"]]
    recorded = {rule["record"] for rule in rules if "record" in rule}
    assert {name for expr in expressions(panel) for name in names(expr)} <= recorded | {"up", "ALERTS"}


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Requests", [threshold("VLLMRequestsWaiting", "vllm_engine:requests_waiting:p50_1m")]),
        ("KV cache", [threshold("VLLMKVCacheFull", "vllm_engine:kv_cache_usage:p90_1m")]),
        (
            "Preemptions",
            [
                threshold("VLLMPreemptionsHigh", "vllm_engine:preemptions:rate5m"),
                threshold("VLLMPreemptionStorm", "vllm_engine:preemptions:rate2m"),
            ],
        ),
    ],
)
def test_a_line_is_drawn_where_the_alert_fires(title: str, lines: list[float]) -> None:
    (panel,) = (panel for dashboard in DASHBOARDS for panel in panels(dashboard) if panel["title"] == title)
    steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [step["value"] for step in steps] == [None, *lines]
    assert panel["fieldConfig"]["defaults"]["custom"]["thresholdsStyle"]["mode"] == "dashed"


def test_runbooks_and_panels_find_each_other() -> None:
    runbook = (ROOT / "docs" / "runbooks" / "README.md").read_text()
    shown = [panel for dashboard in DASHBOARDS for panel in panels(dashboard)]
    assert set(re.findall(r"Panel \*(.+?)\*", runbook)) <= {panel["title"] for panel in shown}
    anchors = {link["url"].partition("#")[2] for panel in shown for link in panel.get("links", [])}
    assert anchors <= {heading.lower() for heading in re.findall(r"^## (\w+)$", runbook, re.MULTILINE)}
