"""`vllm-monitor check` of rules against servers and pages, from its arguments to what stands in the terminal."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.commands.dashboards import DashboardError, dashboard_group, filled
from monitor.model.instant import MINUTE
from monitor.shipped import shipped_dashboards
from monitor.simulator.script import Scenario, Server
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.vllm.pages import page

START = 1_700_000_000_000
PUBLIC = """
groups:
  - name: public
    rules:
      - alert: KVCacheFull
        expr: vllm:gpu_cache_usage_perc > 0.9
      - alert: RequestErrors
        expr: rate(vllm:request_error_total[5m]) > 0
      - alert: SlowFirstToken
        expr: rate(vllm:time_to_first_token_seconds_bucket{le="0.3"}[5m]) > 0
      - alert: Adapters
        expr: vllm:lora_requests_info > 0
      - alert: Waiting
        expr: vllm:num_requests_waiting > 10
"""
PANEL = {"title": "P", "panels": [{"title": "Cache", "targets": [{"expr": 'vllm:gpu_cache_usage_perc{job="$job"}'}]}]}


def check(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["check", *map(str, arguments)])


def lines(result: Result, *words: str) -> list[str]:
    return [" ".join(line.split()) for line in result.output.splitlines() if all(word in line for word in words)]


@pytest.fixture
def served() -> Iterator[SimulatedServer]:
    server = Server(version="0.33.0", model_name="a-model", max_model_len=32_768)
    quiet = Scenario(name="quiet", duration=MINUTE, server=server)
    with SimulatedServer(Simulator(quiet, START)) as simulated:
        yield simulated


@pytest.fixture
def public(tmp_path: Path) -> Path:
    path = tmp_path / "public.rules.yaml"
    path.write_text(PUBLIC)
    return path


def test_shipped_rules_and_dashboards_against_a_live_server(served: SimulatedServer) -> None:
    result = check("--target", served.url)
    assert result.exit_code == 0, result.output
    head, answers = result.output.splitlines()[:2]
    assert head == f"{served.url}/metrics: vLLM 0.33.0 (V1)"
    assert answers == "/health ok · /load 0 · /version 0.33.0 · /v1/models a-model (32768 tokens)"
    assert lines(result, "VLLMEngineStuck") == ["alert VLLMEngineStuck ok"]
    assert len(lines(result, "query", "ok")) > 10
    assert result.output.rstrip().endswith("0 cannot work")


def test_rules_of_somebody_else_against_a_live_server(served: SimulatedServer, public: Path) -> None:
    result = check("--target", served.url, "--rules", public)
    assert result.exit_code == 1
    (full,) = lines(result, "KVCacheFull")
    assert full.startswith(
        "alert KVCacheFull nodata renamed: `vllm:gpu_cache_usage_perc` left in 0.12.0; running 0.33.0"
    )
    assert "no vLLM version has `vllm:request_error_total`; did you mean" in result.output
    assert '`vllm:time_to_first_token_seconds_bucket` has no edge with `le="0.3"`' in result.output
    assert lines(result, "Adapters") == [
        "alert Adapters nodata condition: `vllm:lora_requests_info` needs --enable-lora"
    ]
    assert lines(result, "Waiting") == ["alert Waiting ok"]
    assert "5 alerts: 1 find what they need, 1 have nothing to find here, 3 cannot work" in result.output


def test_a_page_in_a_file_says_what_it_comes_from_or_is_told(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text(page("0.14.1"))
    assert f"{path}: vLLM about 0.13.0, by its page (V1)" in check("--page", path).output
    assert f"{path}: vLLM 0.14.1 (V1)" in check("--page", path, "--vllm-version", "0.14.1").output


def test_json_says_the_same(tmp_path: Path, public: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text(page("0.33.0"))
    result = check("--page", path, "--rules", public, "--json")
    found: dict[str, Any] = json.loads(result.output)
    (target,) = found["targets"]
    assert (found["ok"], target["instance"], target["version"]) == (False, str(path), "0.32.0")
    assert target["rules"][0] == {
        "kind": "alert",
        "group": "public",
        "name": "KVCacheFull",
        "health": "nodata",
        "reason": "renamed",
        "explained": False,
        "message": "`vllm:gpu_cache_usage_perc` left in 0.12.0; running about 0.32.0, by its page; "
        "read `vllm:kv_cache_usage_perc`",
    }


def test_a_dashboard_of_somebody_else(tmp_path: Path) -> None:
    path, dashboard = tmp_path / "page.txt", tmp_path / "dashboard.json"
    path.write_text(page("0.33.0"))
    dashboard.write_text(json.dumps({**PANEL, "panels": [{"panels": PANEL["panels"]}]}))
    result = check("--page", path, "--dashboard", dashboard)
    assert result.exit_code == 1
    assert lines(result, "query", "Cache", "renamed") != []


def test_a_server_that_is_down_is_an_error() -> None:
    result = check("--target", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "connection refused" in result.output.lower()


def test_a_page_of_something_else_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("# TYPE node_load1 gauge\nnode_load1 0.3\n")
    result = check("--page", path)
    assert result.exit_code == 1
    assert "no vLLM server" in result.output


def test_all_targets_of_a_configuration_with_its_rules(served: SimulatedServer, public: Path, tmp_path: Path) -> None:
    config = tmp_path / "monitor.yaml"
    address = served.url.removeprefix("http://")
    config.write_text(
        f"""
scrape_configs:
  - job_name: vllm
    static_configs:
      - targets: ["{address}", "127.0.0.1:1"]
rule_files: [{public}]
route: {{receiver: out}}
receivers: [{{name: out, console_configs: [{{}}]}}]
"""
    )
    result = check("--config", config)
    assert result.exit_code == 1
    assert lines(result, "KVCacheFull", "renamed") != []
    # Of several targets only what finds nothing is shown.
    assert lines(result, "alert Waiting") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a file to check"),
        (("--rules", "x.rules.yaml"), "give a file to check"),
        (("x.rules.yaml", "--page", "p"), "--rules"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: tuple[str, ...], message: str) -> None:
    result = check(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ('rate(x{job=~"$job"}[$__rate_interval])', 'rate(x{job=~".+"}[5m])'),
        ('x{model_name=~"${model_name:regex}"}[$__range]', 'x{model_name=~".+"}[5m]'),
    ],
)
def test_variables_of_a_dashboard_are_at_all(query: str, asked: str) -> None:
    assert filled(query) == asked


def test_a_variable_whose_values_are_written_is_as_it_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    variables = [
        {"type": "custom", "name": "length", "current": {"value": "8192"}},
        {"type": "custom", "name": "several", "current": {"value": ["$__all"]}},
        {"type": "query", "name": "job", "current": {"value": "vllm"}, "query": "label_values(up, job)"},
    ]
    panel = {"title": "a", "targets": [{"expr": 'x{job=~"$job", y=~"${several}"} / $length'}]}
    path.write_text(json.dumps({"templating": {"list": variables}, "panels": [panel]}))
    assert [rule.expr for rule in dashboard_group(path).rules] == ['x{job=~".+", y=~".+"} / 8192', "up"]


@pytest.mark.parametrize("path", shipped_dashboards(), ids=lambda path: path.stem)
def test_every_query_of_a_shipped_dashboard_is_judged(path: Path) -> None:
    queries = path.read_text().count('"expr":')
    group = dashboard_group(path)
    assert len([rule for rule in group.rules if not rule.name.startswith("$")]) >= queries - 1


@pytest.mark.parametrize(
    "text", ["[" * 30_000, "[]", '{"panels": 5}', '{"panels": [null]}', '{"panels": [{"targets": [{"expr": 5}]}]}']
)
def test_a_file_that_is_no_dashboard_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text(text)
    with pytest.raises(DashboardError, match=r"board\.json: no "):
        dashboard_group(path)


def test_a_dashboard_may_have_nothing_in_its_lists(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text('{"panels": [{"title": "a", "targets": [{"expr": "up"}], "panels": null}, {"targets": null}]}')
    assert [rule.name for rule in dashboard_group(path).rules] == ["a"]
