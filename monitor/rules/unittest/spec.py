"""What a file of unit tests says. Values only."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.rules.unittest.notation import Run, expanded
from monitor.yamldoc.mistake import NOWHERE, Mistake, Place


@dataclass(frozen=True, slots=True)
class InputSeries:
    """A series whose k-th value lies k intervals after the test's start; None where there is no sample."""

    labels: Labels
    runs: tuple[Run, ...]

    def samples(self, start: Instant, interval: Duration) -> Iterator[tuple[Instant, float]]:
        """Yield the samples in the order of time; the staleness marker is one of them."""
        for number, value in enumerate(expanded(self.runs)):
            if value is not None:
                yield start + number * interval, value


@dataclass(frozen=True, slots=True)
class ExpectedAlert:
    """An alert that must fire; empty values are kept, an alert never has one among its labels."""

    labels: Labels = EMPTY
    annotations: Labels = EMPTY


@dataclass(frozen=True, slots=True)
class AlertCase:
    """All alerts named `alertname` that fire `at` so long after the start."""

    alertname: str
    at: Duration = 0
    expected: tuple[ExpectedAlert, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class ExprCase:
    """The instant vector that `expr` gives `at` so long after the start."""

    expr: str
    at: Duration = 0
    expected: tuple[tuple[Labels, float], ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class UnitTest:
    """
    One test: its series, and what is to be found.

    `start` is its time 0, `interval` lies between two values of a series. `name` is "" when the file gives none.
    """

    name: str = ""
    interval: Duration = MINUTE
    start: Instant = 0
    series: tuple[InputSeries, ...] = ()
    alert_cases: tuple[AlertCase, ...] = ()
    expr_cases: tuple[ExprCase, ...] = ()
    external_labels: Labels = EMPTY
    external_url: str = ""

    @property
    def duration(self) -> Duration:
        """When its last question is asked."""
        times = [case.at for case in self.alert_cases] + [case.at for case in self.expr_cases]
        return max(times, default=0)


@dataclass(frozen=True, slots=True)
class UnitTestFile:
    """A file of tests. Every group is evaluated every `evaluation_interval`, whatever interval of its own it has."""

    path: str
    rule_files: tuple[Path, ...] = ()
    evaluation_interval: Duration = MINUTE
    group_eval_order: tuple[str, ...] = ()
    fuzzy_compare: bool = False
    tests: tuple[UnitTest, ...] = ()
    warnings: tuple[Mistake, ...] = field(default=(), compare=False)
