"""The rules that ship: real promtool, old and new, accepts and proves them, and each alert is fit to wake someone."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.ownnames import own_names
from tests.engines import engine
from tests.rules.lint import SCRAPED, complaints, names

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "rules").glob("*.rules.yaml"))
TESTS = sorted((ROOT / "rules" / "tests").glob("*.test.yaml"))
SUITES = [pytest.param("", id="system"), pytest.param("newer", id="newer")]


def rules() -> list[dict[str, Any]]:
    documents = [yaml.safe_load(path.read_text()) for path in FILES]
    return [rule for document in documents for group in document["groups"] for rule in group["rules"]]


@cache
def cases() -> list[dict[str, Any]]:
    return [case for path in TESTS for case in yaml.load(path.read_text(), yaml.CSafeLoader)["tests"]]


def name(rule: dict[str, Any]) -> str:
    return str(rule.get("alert", rule.get("record")))


ALERTS = [rule for rule in rules() if "alert" in rule]


def promtool(suite: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [engine("promtool", suite), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("suite", SUITES)
def test_promtool_finds_no_fault(suite: str) -> None:
    done = promtool(suite, "check", "rules", "--lint=all", "--lint-fatal", *FILES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_promtool_proves_every_unit_test(suite: str, path: Path) -> None:
    done = promtool(suite, "test", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rule", rules(), ids=name)
def test_a_shipped_rule_has_no_known_fault(rule: dict[str, Any]) -> None:
    assert complaints(rule) == []


def test_alerts_read_only_names_that_are_recorded() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    read = {name for rule in ALERTS for name in names(rule["expr"])}
    assert {name for name in read if not name.startswith("vllm_monitor_")} <= recorded | SCRAPED


def test_what_alerts_read_of_the_monitor_is_on_its_metrics_page() -> None:
    read = {name for rule in ALERTS for name in names(rule["expr"]) if name.startswith("vllm_monitor_")}
    assert read
    assert read <= own_names()


@pytest.mark.parametrize("alert", [rule["alert"] for rule in ALERTS])
def test_an_alert_is_shown_firing_and_staying_quiet(alert: str) -> None:
    checks = [check for case in cases() for check in case.get("alert_rule_test", []) if check["alertname"] == alert]
    assert any(check["exp_alerts"] for check in checks)
    assert any(not check["exp_alerts"] for check in checks)
    assert any(case["name"].startswith(f"{alert} is quiet") for case in cases())
