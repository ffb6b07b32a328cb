"""
The rule files alone, under a real Prometheus: promtool evaluates them over the scraped series.

A Prometheus evaluates at instants of its own, so every story is told at several phases: the scrapes begin so long after
an evaluation. promtool's clock begins at 1970; series whose values are instants are moved along.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from monitor.model.instant import Duration, format_duration, to_seconds
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.sample import format_value, is_stale
from monitor.storage.column import Column
from tests.incidents.firing import Firing, merged
from tests.incidents.play import START, Played

# Scrapes and evaluations that fall on one instant are the exception: odd phases lie between.
GRAIN: Duration = 2500
PHASES: tuple[Duration, ...] = (0, 2500, 10_000)
_EXPR = 'max by (alertname, severity, instance, engine) (ALERTS{alertstate="firing"})'
_INSTANTS = frozenset({"process_start_time_seconds", "vllm:lora_requests_info"})
_ANSWER = re.compile(r"time: (\S+),\n\s+exp: nil\n\s+got: (.*)")
_SERIES = re.compile(r'\{((?:[^{}"]|"(?:[^"\\]|\\.)*")*)\} \S+')
_PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_UNIT = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class PromtoolError(Exception):
    """promtool does not take the rule files."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """`promtool` is the path of the program; `every` says that only each so-many-th scrape is made."""

    promtool: str
    every: int = 1

    def watch(self, played: Played, rules: Sequence[Path], phase: Duration, folder: Path) -> Sequence[Firing]:
        """Return what fires in a Prometheus that evaluates `rules` in this phase. Raises PromtoolError."""
        path = folder / f"{phase}.test.yaml"
        with path.open("w") as file:
            yaml.dump(self._test(played, rules, phase), file, Dumper=yaml.CSafeDumper, width=1_000_000)
        done = subprocess.run([self.promtool, "test", "rules", str(path)], capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if "unit test failed" in said or (done.returncode and "FAILED" not in said):
            raise PromtoolError(said[:2000])
        if "exp: nil" not in said and "FAILED" in said:
            raise PromtoolError(said[:2000])
        return merged(_answers(said, phase), played.story.evaluation)

    def _test(self, played: Played, rules: Sequence[Path], phase: Duration) -> dict[str, object]:
        end, every = played.story.duration + phase, played.story.evaluation
        asked = [{"expr": _EXPR, "eval_time": format_duration(at)} for at in range(0, end - end % every + 1, every)]
        series = list(self._series(played, phase))
        return {
            "rule_files": [str(path.resolve()) for path in rules],
            "evaluation_interval": format_duration(every),
            "tests": [{"interval": format_duration(GRAIN), "input_series": series, "promql_expr_test": asked}],
        }

    def _series(self, played: Played, phase: Duration) -> Iterator[dict[str, str]]:
        step = played.story.interval * self.every
        # Counted in half scrapes where the phase is odd: between two scrapes there is nothing.
        before, between = phase // GRAIN, step // GRAIN - 1
        for column in played.scraped:
            values = _notation(column, range(START, START + played.story.duration + 1, step), between)
            if values:
                yield {"series": str(column.labels), "values": f"_x{before} {values}" if before else values}


def _notation(column: Column, times: Iterable[int], between: int) -> str:
    """Return the samples in promtool's notation, or "" when there are none."""
    rows, base = column.block.view
    values, first = column.view
    samples = dict(zip(rows[first - base :], values, strict=False))
    shift = to_seconds(START) if column.labels.name in _INSTANTS else 0.0
    gap = f" _x{between} " if between else " "
    written = [_value(samples.get(at), shift) for at in times]
    return gap.join(written) if any(one != "_" for one in written) else ""


def _value(sample: float | None, shift: float) -> str:
    if sample is None:
        return "_"
    return "stale" if is_stale(sample) else format_value(sample - shift)


def _answers(said: str, phase: Duration) -> Iterator[tuple[Labels, Sequence[Duration]]]:
    for time, found in _ANSWER.findall(said):
        at = sum(int(number) * _UNIT[unit] for number, unit in re.findall(r"(\d+)(ms|s|m|h|d)", time)) - phase
        for labels in _SERIES.findall(found):
            yield Labels.of({name: value for name, value in _PAIR.findall(labels) if name != METRIC_NAME}), [at]
