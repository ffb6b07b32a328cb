"""
The life of random alerts beside the real promtool 3: every rule, every step, its series, its labels and its texts.

`VLLM_MONITOR_RULES` sets how many rule files are made, `VLLM_MONITOR_SEED` repeats a run; a run of more than the usual
number without a seed takes a new one, and prints it.
"""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import yaml

from monitor.model.instant import Instant, format_duration
from monitor.model.labels import Labels
from monitor.model.sample import format_value, is_stale
from monitor.rules.alerting import AlertState
from tests.engines import engine
from tests.rules.life import Life, Values, groups_of
from tests.rules.random_rules import STEPS, Case, Cases

_USUAL = 30
_EXTERNAL = {"cluster": "c1"}
_URL = "http://monitor.example"


def test_random_alerts_live_as_in_prometheus(tmp_path: Path) -> None:
    count = int(os.environ.get("VLLM_MONITOR_RULES", _USUAL))
    given = os.environ.get("VLLM_MONITOR_SEED")
    seed = int(given) if given else 1 if count <= _USUAL else SystemRandom().randrange(10**6)
    cases = Cases(Random(seed))  # noqa: S311 - it must be repeatable
    stories = [Story(cases.any()) for _ in range(count)]
    verdicts = _ask(engine("promtool", "newer"), stories, tmp_path)
    differences = [story.difference(verdict) for story, verdict in zip(stories, verdicts, strict=True)]
    seen: Counter[str] = sum((story.seen for story in stories), Counter())
    print(f"seed {seed}: {count} rule files, {dict(seen)}")  # noqa: T201 - to repeat the run
    for number, difference in enumerate(differences):
        if difference:
            print((tmp_path / f"{number}.rules.yaml").read_text(), difference)  # noqa: T201 - what to look at
    assert not any(differences), f"VLLM_MONITOR_SEED={seed} VLLM_MONITOR_RULES={count}"
    # Rules that find nothing, or fail at once, prove little.
    assert seen["pending"] > 2 * count
    assert seen["firing"] > 10 * count
    assert seen["failed"] < count / 2


class Story:
    """A case, lived through by our engine: what promtool is to expect, up to the first rule that fails."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.seen: Counter[str] = Counter()
        self._failed: list[str] = []
        self._life = Life(
            groups_of(yaml.safe_dump(case.rules)),
            case.step,
            external_labels=Labels.of(_EXTERNAL),
            external_url=_URL,
        )
        self._alert_tests = [one for number in range(STEPS) if not self._failed for one in self._step(number)]

    def _step(self, number: int) -> Iterator[dict[str, Any]]:
        at = number * self._case.step
        self._life.feed(self._case.series, number)
        self._life.manager.evaluate(at)
        errors = self._life.errors()
        if errors:
            self.seen["failed"] += 1
            self._failed = [f"rule: {name}, time: {_go(at)}, err: {_beginning(error)}" for name, error in errors]
            return
        for group in self._life.manager.groups:
            for rule in group.alerting:
                self.seen.update(alert.state.value for alert in rule.active.values())
                yield {
                    "eval_time": format_duration(at),
                    "alertname": rule.spec.name,
                    "exp_alerts": [
                        {"exp_labels": dict(alert.labels), "exp_annotations": dict(alert.annotations)}
                        for alert in rule.active.values()
                        if alert.state is AlertState.FIRING
                    ],
                }

    def _questions(self) -> Iterator[dict[str, Any]]:
        for number in range(STEPS):
            at = number * self._case.step
            for expr in ("ALERTS", "ALERTS_FOR_STATE", *(f"{{__name__='{name}'}}" for name in self._case.records)):
                answer = [
                    {"labels": str(labels), "value": value}
                    for labels, value in (self._life.answer(expr, at) if not self._failed else ())
                ]
                yield {"eval_time": format_duration(at), "expr": expr, "exp_samples": answer}

    def write(self, rules: Path, test: Path) -> None:
        """Write the rule file, and what we found as a test for promtool."""
        rules.write_text(yaml.safe_dump(self._case.rules, sort_keys=False))
        step = format_duration(self._case.step)
        unit = {
            "interval": step,
            "external_labels": _EXTERNAL,
            "external_url": _URL,
            "input_series": [
                {"series": str(labels), "values": _notation(values)} for labels, values in self._case.series.items()
            ],
            "alert_rule_test": self._alert_tests,
            "promql_expr_test": list(self._questions()),
        }
        document = {
            "rule_files": [str(rules)],
            "evaluation_interval": step,
            "group_eval_order": [group["name"] for group in self._case.rules["groups"]],
            "fuzzy_compare": True,
            "tests": [unit],
        }
        test.write_text(yaml.safe_dump(document, width=10_000))

    def difference(self, verdict: str) -> str:
        """Return what of promtool's verdict is not what we say, "" when nothing is."""
        told = re.findall(r"rule: .*", verdict)
        if self._failed:
            alike = len(told) == len(self._failed) and all(map(str.startswith, told, self._failed))
            return "" if alike and " got:" not in verdict else f"expected {self._failed}\n{verdict}"
        return "" if "SUCCESS" in verdict else verdict


def _notation(values: Values) -> str:
    words = ("_" if one is None else "stale" if is_stale(one) else format_value(one) for one in values)
    return " ".join(words)


def _beginning(error: str) -> str:
    # We add which series it is.
    return error.partition(" labels:")[0] + " labels" if " labels:" in error else error


def _go(duration: Instant) -> str:
    """Return a duration as Go prints it: `1m30s`, `1.5s`, `10m0s`."""
    minutes, rest = divmod(duration, 60_000)
    seconds = f"{rest / 1000:g}s"
    return seconds if not minutes else f"{minutes}m{seconds}"


def _ask(promtool: str, stories: list[Story], folder: Path) -> list[str]:
    """Return promtool's verdict on each story, from one run of it."""
    files = [folder / f"{number}.test.yaml" for number in range(len(stories))]
    for number, (story, path) in enumerate(zip(stories, files, strict=True)):
        story.write(folder / f"{number}.rules.yaml", path)
    command = [promtool, "test", "rules", *map(str, files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    parts = re.split(r"^  (?=SUCCESS|FAILED:)", done.stdout, flags=re.MULTILINE)
    assert len(parts) == len(stories) + 1, done.stdout
    return parts[1:]
