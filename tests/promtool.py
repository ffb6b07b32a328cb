"""Real promtool as the second opinion: our window's samples as a rule unit test, and what we found as its answers."""

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from monitor.model.instant import Duration, Instant, format_duration
from monitor.model.labels import Labels
from monitor.model.sample import format_value, is_stale
from monitor.storage.column import Column


@dataclass(frozen=True)
class Question:
    """An expression at an instant, and the vector that we answered."""

    expr: str
    at: Instant
    answer: Sequence[tuple[Labels, float]]


def input_series(columns: Iterable[Column], start: Instant, end: Instant, step: Duration) -> list[dict[str, str]]:
    """Return the samples of `columns` in promtool's notation, one value each `step` from `start` on."""
    return [{"series": str(column.labels), "values": _values(column, start, end, step)} for column in columns]


def _values(column: Column, start: Instant, end: Instant, step: Duration) -> str:
    times, base = column.block.view
    values, first = column.view
    samples = dict(zip(times[first - base :], values, strict=False))
    notation = ["_" if at not in samples else _value(samples[at]) for at in range(start, end + 1, step)]
    return " ".join(notation)


def _value(value: float) -> str:
    return "stale" if is_stale(value) else format_value(value)


def unit_test(
    rule_files: Iterable[Path], start: Instant, step: Duration, series: Any, asked: Iterable[Question]
) -> str:
    """Return a file for `promtool test rules`, whose clock begins at `start`."""
    tests = [
        {
            "expr": question.expr,
            "eval_time": format_duration(question.at - start),
            "exp_samples": [{"labels": str(labels), "value": value} for labels, value in question.answer],
        }
        for question in asked
    ]
    document = {
        "rule_files": [str(path.resolve()) for path in rule_files],
        "evaluation_interval": format_duration(step),
        "fuzzy_compare": True,
        "tests": [{"interval": format_duration(step), "input_series": series, "promql_expr_test": tests}],
    }
    return yaml.safe_dump(document, allow_unicode=True, width=10_000)


def run(promtool: str, test: str, folder: Path) -> str:
    """Return what promtool finds wrong with the unit test, "" when it agrees with every answer."""
    path = folder / "unit.test.yaml"
    path.write_text(test)
    done = subprocess.run([promtool, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
