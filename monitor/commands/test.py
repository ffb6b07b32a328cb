"""`vllm-monitor test`: promtool's unit tests of rules, run by the embedded engine in a window of their own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import re2
from rich.console import Console
from rich.text import Text

from monitor.clock import SystemClock
from monitor.commands.difference import report
from monitor.embedded import EmbeddedQuery, WindowAppender
from monitor.expressions import check_expr, check_template
from monitor.model.instant import Duration, to_seconds
from monitor.promql import Engine
from monitor.rules.rulefmt import read_rules
from monitor.rules.unittest.format import read_unit_tests
from monitor.rules.unittest.junit import Case, Suite, junit_xml
from monitor.rules.unittest.run import Failure, Storage, run_test
from monitor.rules.unittest.spec import UnitTest
from monitor.storage.window import Window
from monitor.yamldoc.mistake import DocumentError, Mistake, shown

Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a file: the tests that were run with their failures, or `mistakes`; warnings are among those."""

    path: str
    tests: tuple[tuple[str, list[Failure]], ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    @property
    def good(self) -> bool:
        return not any(failures for _, failures in self.tests) and all(one.warning for one in self.mistakes)


class RunPatternError(Exception):
    """A pattern of --run is no regular expression."""


def wanted(patterns: Sequence[str]) -> Wanted:
    """Return what says whether a test's name matches one of `patterns` (all do when there is none)."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled: Any = re2.compile("|".join(f"(?:{pattern})" for pattern in patterns), options)
    except re2.error as err:
        raise RunPatternError(f"--run: {' '.join(patterns)} is not a regular expression") from err
    return lambda name: not patterns or compiled.search(name) is not None


def run_file(path: Path, is_wanted: Wanted) -> Outcome:
    """Run those tests of a file whose names `is_wanted` takes."""
    try:
        file = read_unit_tests(path, check_expr)
        groups = read_rules(file.rule_files, check_expr, check_template)
    except DocumentError as err:
        return Outcome(str(path), mistakes=err.mistakes)
    tests = tuple(
        (_title(number, test), run_test(test, file, groups, _open_storage))
        for number, test in enumerate(file.tests)
        if is_wanted(test.name)
    )
    return Outcome(str(path), tests, file.warnings)


def run_files(paths: Sequence[Path], is_wanted: Wanted, junit: Path | None, out: Console, err: Console) -> bool:
    """
    Run the tests of all files, and say what came of them on `out` and `err`, as promtool does.

    Returns whether all is well. `junit` is where the outcome is put as JUnit's XML; raises OSError when it cannot be.
    """
    suites: list[Suite] = []
    good = True
    for path in paths:
        _print(out, f"Unit Testing:  {path}")
        started = SystemClock().now()
        outcome = run_file(path, is_wanted)
        for line in _told(outcome):
            _print(err, line)
        if outcome.good:
            _print(out, Text("  SUCCESS", "green"))
        _print(out, "")
        good = good and outcome.good
        suites.append(_suite(outcome, datetime.fromtimestamp(to_seconds(started), UTC)))
    if junit is not None:
        junit.write_text(junit_xml(suites), encoding="utf-8")
    return good


def _open_storage(subquery_step: Duration) -> Storage:
    window = Window()
    engine = Engine(window, default_subquery_step=subquery_step)
    return Storage(EmbeddedQuery(engine), WindowAppender(window))


def _title(number: int, test: UnitTest) -> str:
    """Return the name of a test, promtool's own for one that has none."""
    return test.name or f"unnamed#{number}"


def _told(outcome: Outcome) -> Iterator[Text]:
    yield from (Text(f"  {mistake}", "yellow") for mistake in outcome.mistakes if mistake.warning)
    if outcome.good:
        return
    yield Text("  FAILED:", "bold red")
    yield from (Text(f"    {mistake}") for mistake in outcome.mistakes if not mistake.warning)
    for name, failures in outcome.tests:
        for failure in failures:
            yield from report(failure, outcome.path, f"test {shown(name)}")


def _print(console: Console, line: str | Text) -> None:
    # Neither folded nor cut: a series must be found by those who search for it.
    console.print(line, soft_wrap=True, highlight=False, markup=False, emoji=False)


def _suite(outcome: Outcome, started: datetime) -> Suite:
    cases = tuple(
        Case(name, tuple("\n".join(line.plain for line in report(one, outcome.path, name)) for one in failures))
        for name, failures in outcome.tests
    )
    error = "\n".join(str(mistake) for mistake in outcome.mistakes if not mistake.warning)
    return Suite(outcome.path, started.strftime("%Y-%m-%dT%H:%M:%S"), cases, error)
