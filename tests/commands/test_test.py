"""
`vllm-monitor test` beside the real promtool: on the shipped rules, on a corpus of files, and on random ones.

The verdict on a file of the corpus is in its name. `good`: passes under both. `fails`, `malformed`: under neither.
`stricter`: promtool lets pass what we refuse. `newer`: promtool 3.5 does not know it yet.
`VLLM_MONITOR_UNIT_TESTS` sets how many random files are tried, `VLLM_MONITOR_SEED` with which seed they begin.
"""

import os
import xml.etree.ElementTree as ET
from collections import Counter
from math import isnan
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.commands.test import Outcome, run_file
from monitor.model.labels import Labels
from monitor.rules.unittest.metric import parse_metric
from tests.commands.random_tests import RandomTest
from tests.commands.verdicts import ours, promtools
from tests.engines import engine

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "rules" / "tests").glob("*.test.yaml"))
FOLDER = ROOT / "tests" / "data" / "unittest"
CORPUS = sorted(FOLDER.glob("*.yaml"))
OURS_PASS = ("good", "newer")
PROMTOOLS_PASS = ("good", "stricter")
RANDOM_FILES = 25


def kind(path: Path) -> str:
    return path.name.split("-")[0]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_the_tests_of_the_shipped_rules_pass(path: Path) -> None:
    assert ours(path).good


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_verdict_is_the_one_the_file_is_named_for(path: Path) -> None:
    assert ours(path).good is (kind(path) in OURS_PASS)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_promtool_comes_to_the_same_verdict_for_the_same_reasons(path: Path) -> None:
    verdict = promtools(engine("promtool", "newer"), path)
    assert verdict.good is (kind(path) in PROMTOOLS_PASS)
    if kind(path) in ("good", "fails"):
        assert verdict == ours(path)


def test_the_corpus_is_large_enough_to_prove_something() -> None:
    kinds = Counter(map(kind, CORPUS))
    assert sum(kinds.values()) >= 100
    assert min(kinds["good"], kinds["fails"], kinds["malformed"]) >= 25


def test_promtool_agrees_on_random_files(tmp_path: Path) -> None:
    promtool = engine("promtool", "newer")
    count = int(os.environ.get("VLLM_MONITOR_UNIT_TESTS", RANDOM_FILES))
    first = int(os.environ.get("VLLM_MONITOR_SEED", "0"))
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        seen.update(_judged_by_both(promtool, seed, tmp_path))
    print(f"seeds from {first}: {dict(seen)}")  # noqa: T201 - what the run was worth
    # Files of which neither engine can make anything prove little.
    assert seen["answered"] > count / 3, seen
    assert seen["changed"] > count / 3, seen


def _judged_by_both(promtool: str, seed: int, folder: Path) -> list[str]:
    """
    Let both engines judge one random file, three times.

    First nothing is expected; then what we answered, which must be right in the eyes of both; then one answer is
    changed, and both must notice.
    """
    random = Random(seed)  # noqa: S311 - it must be repeatable
    test = RandomTest(random)
    exprs, alerts = test.questions()
    (folder / "rules.yaml").write_text(yaml.safe_dump(test.rules))
    path = folder / "random.test.yaml"

    def judged() -> tuple[bool, bool]:
        path.write_text(yaml.safe_dump(test.document(exprs, alerts), width=10_000))
        mine, theirs = ours(path), promtools(promtool, path)
        assert mine == theirs, f"VLLM_MONITOR_SEED={seed} VLLM_MONITOR_UNIT_TESTS=1, see {path}"
        return mine.good, any(question[0] == "rule" for question in mine.failed)

    _, stopped = judged()
    outcome = run_file(path, lambda _: True)
    if stopped or outcome.mistakes:
        return ["stopped" if stopped else "malformed"]
    exprs, alerts = _answered(exprs, outcome), _answered(alerts, outcome)
    good, _ = judged()
    assert good
    changed = [sample for case in exprs for sample in case["exp_samples"]]
    if not changed:
        return ["answered"]
    random.choice(changed)["value"] += 1e6
    # What is infinite stays so.
    return ["answered", "infinite" if judged()[0] else "changed"]


def _answered(questions: list[dict[str, Any]], outcome: Outcome) -> list[dict[str, Any]]:
    """Return the questions with the answers we gave; those with a NaN are left out, for it can never be expected."""
    ((_, failures),) = outcome.tests
    lines = {failure.title: failure.lines for failure in failures}
    answered = []
    for question in questions:
        is_expr = "expr" in question
        name = f"expr {question['expr']}" if is_expr else f"alert {question['alertname']}"
        title = f"{name} at {question['eval_time']}"
        given: list[Any] = []
        for line in lines.get(title, ()):
            if line.mark == "+" and is_expr:
                given.append({"labels": line.what, "value": float(line.got)})
            elif line.mark == "+":
                given.append({"exp_labels": dict(parse_metric(line.what)), "exp_annotations": {}})
            elif line.what.startswith("annotation "):
                text = parse_metric(f"{{x={line.got}}}")
                given[-1]["exp_annotations"][line.what.split()[1]] = text.value("x")
        if not any(isnan(sample.get("value", 0.0)) for sample in given):
            answered.append({**question, "exp_samples" if is_expr else "exp_alerts": given})
    return answered


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["test", *map(str, arguments)])


def test_success_is_told_on_standard_output_and_failure_on_standard_error() -> None:
    good, bad = FOLDER / "good-samples.yaml", FOLDER / "fails-samples.yaml"
    result = invoke(good, bad)
    assert result.exit_code == 1
    assert result.stdout == f"Unit Testing:  {good}\n  SUCCESS\n\nUnit Testing:  {bad}\n\n"
    assert result.stderr == (
        "  FAILED:\n"
        f'    {bad}:21:9: test "unnamed#0", expr sum(x) at 10m:\n'
        "              expected  got\n"
        "        ! {}  11.5      11\n"
    )


def test_files_that_are_all_good_end_with_0() -> None:
    result = invoke(FOLDER / "good-samples.yaml", FOLDER / "good-alert.yaml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("  SUCCESS\n") == 2


def test_a_difference_is_told_label_by_label_and_long_texts_one_below_the_other(tmp_path: Path) -> None:
    rules = {"groups": [{"name": "g", "rules": [_alert("the cache of a is full, and requests are held back")]}]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    (tmp_path / "t.yaml").write_text(
        "rule_files: [rules.yaml]\n"
        "tests:\n"
        "  - name: full\n"
        "    alert_rule_test:\n"
        "      - alertname: Full\n"
        "        eval_time: 1m\n"
        "        exp_alerts:\n"
        "          - exp_labels: {zone: x, severity: critical}\n"
        "            exp_annotations: {summary: the cache of a is full and requests are held back}\n"
    )
    assert invoke(tmp_path / "t.yaml").stderr == (
        "  FAILED:\n"
        f'    {tmp_path}/t.yaml:5:9: test "full", alert Full at 1m:\n'
        "                            expected    got\n"
        '        ! {severity="critical", zone="x"}\n'
        '            label severity  "critical"  "warning"\n'
        "            annotation summary\n"
        '            expected  "the cache of a is full and requests are held back"\n'
        '            got       "the cache of a is full, and requests are held back"\n'
        "                                             ^ from here on\n"
    )


def _alert(summary: str) -> dict[str, Any]:
    labels = {"severity": "warning", "zone": "x"}
    return {"alert": "Full", "expr": "1", "labels": labels, "annotations": {"summary": summary}}


def test_a_file_that_cannot_be_read_is_told_with_places_and_the_next_is_run(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("tests:\n  - {nam: a, interval: 5}\n")
    result = invoke(bad, tmp_path / "nosuch.yaml", FOLDER / "good-samples.yaml")
    assert result.exit_code == 1
    assert result.stdout.count("  SUCCESS\n") == 1
    assert result.stderr == (
        "  FAILED:\n"
        f'    {bad}:2:6: test 1: unknown field "nam" (did you mean "name"?)\n'
        f'    {bad}:2:24: test 1: interval: "5" is not a duration (write 30s, 5m, 1h30m)\n'
        "  FAILED:\n"
        f"    {tmp_path}/nosuch.yaml: cannot be read: No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("patterns", "exit_code"),
    [
        (["^good$"], 0),
        (["bad"], 1),
        # A test without a name has the empty one.
        (["^$"], 1),
        (["nosuch"], 0),
        (["nosuch", "ba."], 1),
    ],
)
def test_run_chooses_tests_by_their_names(patterns: list[str], exit_code: int) -> None:
    options = [part for pattern in patterns for part in ("--run", pattern)]
    assert invoke(*options, FOLDER / "fails-several-tests.yaml").exit_code == exit_code


def test_a_pattern_that_is_none_is_refused() -> None:
    result = invoke("--run", "(", FOLDER / "good-samples.yaml")
    assert (result.exit_code, result.stderr) == (1, "--run: ( is not a regular expression\n")


def test_junit_holds_a_suite_for_each_file_and_a_case_for_each_test(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    paths = (FOLDER / "fails-several-tests.yaml", FOLDER / "malformed-unknown-field.yaml")
    assert invoke("--junit", file, *paths).exit_code == 1
    several, malformed = ET.parse(file).getroot()  # noqa: S314 - our own file
    counts = ("tests", "failures", "errors", "skipped")
    assert [several.get(count) for count in counts] == ["4", "3", "0", "0"]
    assert [malformed.get(count) for count in counts] == ["1", "0", "1", "0"]
    assert [(case.get("name"), len(case)) for case in several] == [
        ("good", 0),
        ("bad", 2),
        ("unnamed#2", 0),
        ("unnamed#3", 1),
    ]
    assert "expected  got" in (several.findtext("./testcase[@name='unnamed#3']/failure") or "")
    assert 'unknown field "rules"' in (malformed.findtext("./testcase/error") or "")


def test_the_labels_of_an_answer_are_read_back() -> None:
    """What the random test relies on."""
    labels = Labels.of({"__name__": "x", "a": 'say "no"\n\\'})
    assert parse_metric(str(labels)) == labels
