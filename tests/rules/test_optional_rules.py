"""Rules that are off as they ship are as good as the others: built with everything on, checked, linted and proven."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.commands.test import run_file
from monitor.rulebook.build import build, write
from monitor.rulebook.values import defaults
from tests.engines import engine
from tests.rules.lint import complaints

TESTS = Path(__file__).parents[2] / "rules" / "tests" / "optional"
FILES = sorted(path.name for path in TESTS.glob("*.test.yaml"))
SUITES = [pytest.param("", id="system"), pytest.param("newer", id="newer")]
# It is never quiet: that is what it is for.
ALWAYS = "VLLMMonitorWatchdog"


def alerts(*, everything: bool) -> list[dict[str, Any]]:
    files = build(defaults(), everything=everything).values()
    groups = [group for text in files for group in yaml.load(text, yaml.CSafeLoader)["groups"]]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def only_optional() -> list[dict[str, Any]]:
    shipped = {rule["alert"] for rule in alerts(everything=False)}
    return [rule for rule in alerts(everything=True) if rule["alert"] not in shipped]


OPTIONAL = only_optional()
NAMES = sorted({rule["alert"] for rule in OPTIONAL})


@cache
def cases() -> list[dict[str, Any]]:
    return [case for name in FILES for case in yaml.load((TESTS / name).read_text(), yaml.CSafeLoader)["tests"]]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of rules with everything on, and the unit tests where they stand."""
    folder = tmp_path_factory.mktemp("everything") / "rules"
    write(build(defaults(), everything=True), folder)
    shutil.copytree(TESTS, folder / "tests" / "optional")
    return folder


@pytest.mark.parametrize("suite", SUITES)
def test_promtool_finds_no_fault(rules: Path, suite: str) -> None:
    paths = map(str, sorted(rules.glob("*.rules.yaml")))
    command = [engine("promtool", suite), "check", "rules", "--lint=all", "--lint-fatal", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("suite", SUITES)
def test_promtool_proves_every_unit_test(rules: Path, suite: str) -> None:
    paths = [str(rules / "tests" / "optional" / name) for name in FILES]
    command = [engine("promtool", suite), "test", "rules", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", FILES)
def test_our_own_engine_proves_them_too(rules: Path, name: str) -> None:
    outcome = run_file(rules / "tests" / "optional" / name, lambda _: True)
    assert outcome.good, outcome


@pytest.mark.parametrize("rule", OPTIONAL, ids=lambda rule: str(rule["alert"]))
def test_an_optional_rule_has_no_known_fault(rule: dict[str, Any]) -> None:
    assert complaints(rule) == []


@pytest.mark.parametrize("alert", NAMES)
def test_an_optional_alert_is_shown_firing_and_staying_quiet(alert: str) -> None:
    checks = [check for case in cases() for check in case.get("alert_rule_test", []) if check["alertname"] == alert]
    assert any(check["exp_alerts"] for check in checks)
    assert alert == ALWAYS or any(case["name"].startswith(f"{alert} is quiet") for case in cases())
