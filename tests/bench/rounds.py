"""A round of rules: all that ship, over a hundred servers in overload, each at another second of a recording."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from monitor.clock import monotonic_seconds
from monitor.embedded import EmbeddedQuery, WindowAppender, keep, wanted_names
from monitor.expressions import check_expr, check_template
from monitor.model.instant import HOUR, SECOND, Instant
from monitor.model.labels import Labels
from monitor.promql import Engine
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RuleGroup
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import Answer, ScrapeLoop
from monitor.shipped import rules_folder
from monitor.storage.window import Window
from tests.bench.pages import CONTENT_TYPE, OVERLOAD, TARGET, pages
from tests.bench.promql import cpu_milliseconds

_TARGETS = 100
_INTERVAL = 15 * SECOND
_START: Instant = 1_700_000_040_000
# Long enough for every range to be full and every alert to fire.
_WARM_UP, _ROUNDS = 60, 20
_BUDGET = 300


def _loop(window: Window, number: int, wanted: frozenset[str] | None) -> ScrapeLoop:
    target = replace(TARGET, labels=Labels.of(job="vllm", instance=f"vllm-{number}:8000"))
    recorded = itertools.cycle([*OVERLOAD[number % len(OVERLOAD) :], *OVERLOAD[: number % len(OVERLOAD)]])
    return ScrapeLoop(
        target,
        ScrapeOptions(),
        window,
        lambda: Answer(pages()[next(recorded)], CONTENT_TYPE),
        wanted=wanted,
        seconds=lambda: 0.0,
    )


class Fleet:
    """The servers, what their scrapes wrote, and the rules that read it."""

    def __init__(self, specs: Sequence[RuleGroup]) -> None:
        expressions = [rule.expr for spec in specs for rule in spec.rules]
        self._window = Window()
        keep(self._window, expressions, HOUR)
        wanted = wanted_names(expressions)
        self._loops = [_loop(self._window, number, wanted) for number in range(_TARGETS)]
        context = Context(EmbeddedQuery(Engine(self._window)), WindowAppender(self._window))
        self._manager = Manager(specs, context, _INTERVAL, monotonic_seconds)
        self._slots = itertools.count(_START, _INTERVAL)

    def round(self) -> float:
        """Scrape everything, then evaluate everything; return the milliseconds of CPU of the latter."""
        slot = next(self._slots)
        for loop in self._loops:
            loop.scrape(slot)
        self._window.prune(slot)
        return cpu_milliseconds(partial(self._manager.evaluate, slot))

    @property
    def alerts(self) -> int:
        """How many alerts are pending or firing."""
        return sum(len(rule.active) for group in self._manager.groups for rule in group.alerting)


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    specs = read_rules(sorted(rules_folder().glob("*.rules.yaml")), check_expr, check_template)
    fleet = Fleet(specs)
    first = fleet.round()
    for _ in range(_WARM_UP):
        fleet.round()
    taken = median(fleet.round() for _ in range(_ROUNDS))
    rules = sum(len(spec.rules) for spec in specs)
    return [
        (
            f"rules: a round of all {rules} over {_TARGETS} targets, {fleet.alerts} alerts",
            f"{taken:.1f} ms CPU",
            f"≤ {_BUDGET} ms",
        ),
        ("rules: the first round", f"{first:.1f} ms CPU", ""),
    ]
