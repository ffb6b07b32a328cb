"""The series that every engine is given: scrapes of real servers and of the simulated one, and the shipped rules."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from monitor.backtest.recording import RecordingFeed
from monitor.embedded import spelled_names, wanted_names
from monitor.expressions import check_expr, check_template, expressions_of
from monitor.model.instant import SECOND, Duration, Instant, slot_at_or_before
from monitor.model.labels import Labels
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RuleGroup
from monitor.rules.turn import by_turn
from monitor.shipped import rules_folder
from monitor.simulator.script import Scenario
from monitor.simulator.simulator import Simulator
from monitor.storage.column import Column
from monitor.storage.window import Window
from tests.recorded import RECORDINGS

STEP: Duration = 5 * SECOND
# Scrapes lie between evaluations, as in a Prometheus, which has phases of its own for both.
PHASE: Duration = STEP // 2
# The value of each alert as it is, and not as a person wants to read it.
EXACT = "exact_value"


@dataclass(frozen=True, slots=True)
class History:
    """
    Samples, `phase` after the multiples of STEP, and the rule files that read them.

    The rules are evaluated at the multiples from `start` to `end`.
    """

    name: str
    columns: Sequence[Column]
    start: Instant
    end: Instant
    rules: Sequence[Path]
    phase: Duration = PHASE

    @property
    def slots(self) -> range:
        return range(self.start, self.end + 1, STEP)

    def groups(self) -> tuple[RuleGroup, ...]:
        """Return the groups by their turn: a promtool, too, evaluates one after the other, in the order it is told."""
        groups = read_rules(self.rules, check_expr, check_template)
        return tuple(groups[place] for place in by_turn(groups, spelled_names))

    def samples(self) -> Iterator[tuple[Labels, list[tuple[Instant, float]]]]:
        """Yield every series with its samples, staleness markers among them."""
        for column in self.columns:
            times, base = column.block.view
            values, first = column.view
            yield (
                column.labels,
                [(at + self.phase, value) for at, value in zip(times[first - base :], values, strict=False)],
            )


def rule_files(folder: Path) -> list[Path]:
    """Write the shipped rules into `folder`, each alert with an annotation that has its value as it is."""
    return [_exact(path, folder / path.name) for path in sorted(rules_folder().glob("*.rules.yaml"))]


def _exact(source: Path, to: Path) -> Path:
    document: dict[str, Any] = yaml.safe_load(source.read_text())
    for group in document["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                rule.setdefault("annotations", {})[EXACT] = "{{ $value }}"
    to.write_text(yaml.safe_dump(document, sort_keys=False, width=10_000))
    return to


def alerts_alone(rules: Sequence[Path], folder: Path) -> list[Path]:
    """Write what of the rule files is no recording rule."""
    written: list[Path] = []
    for path in rules:
        document: dict[str, Any] = yaml.safe_load(path.read_text())
        for group in document["groups"]:
            group["rules"] = [rule for rule in group["rules"] if "alert" in rule]
        written.append(folder / f"alerts-{path.name}")
        written[-1].write_text(yaml.safe_dump(document, sort_keys=False, width=10_000))
    return written


def recorded(name: str, rules: Sequence[Path]) -> History:
    """Return a recording of a real server, scraped again."""
    return _history(name, RECORDINGS / f"{name}.jsonl.gz", rules)


def simulated(scenario: Scenario, rules: Sequence[Path], folder: Path) -> History:
    """Return what a scrape of the simulated server brings every STEP."""
    simulator = Simulator(scenario)
    path = folder / f"{scenario.name}.jsonl"
    with path.open("w") as file:
        for at in range(simulator.start, simulator.end + 1, STEP):
            simulator.advance(at)
            page = simulator.page() if simulator.listening else None
            line = {"time": at / 1000, "status": None if page is None else 200, "body": page}
            file.write(json.dumps(line) + "\n")
    return _history(f"simulated-{scenario.name}", path, rules)


def _history(name: str, path: Path, rules: Sequence[Path]) -> History:
    window = Window(10**15)
    groups = read_rules(rules, check_expr, check_template)
    wanted = wanted_names(expr for group in groups for rule in group.rules for expr in expressions_of(rule))
    feed = RecordingFeed(window, [path], wanted, STEP)
    feed.feed(10**15)
    columns = [column for _, block in window.blocks() for column in block.columns.values()]
    times = sorted({at for column in columns for at in column.block.view[0]})
    return History(name, columns, slot_at_or_before(times[0], STEP), slot_at_or_before(times[-1], STEP), rules)
