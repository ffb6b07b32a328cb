"""Rules at work on a window of their own, on the embedded engine: what each evaluation leaves behind is asked for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from monitor.embedded import EmbeddedQuery, WindowAppender
from monitor.expressions import check_expr, check_template
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, Duration, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.model.sample import is_stale
from monitor.promql import Engine
from monitor.rules.context import Context
from monitor.rules.group import Health
from monitor.rules.manager import Manager
from monitor.rules.rulefmt import parse_rules
from monitor.rules.spec import RuleGroup
from monitor.storage.window import Window

LOOKBACK: Duration = 5 * MINUTE
# One value a step; None where nothing was scraped, a staleness marker where the series ended.
Values = Sequence[float | None]


def groups_of(text: str, file: str = "life.rules.yaml") -> tuple[RuleGroup, ...]:
    return parse_rules(text, file, check_expr, check_template)


@dataclass
class Life:
    """Rules and the samples that they read. `step` is the distance of the samples, and of the evaluations."""

    groups: Iterable[RuleGroup]
    step: Duration = MINUTE
    lookback: Duration = LOOKBACK
    external_labels: Labels = EMPTY
    external_url: str = ""
    window: Window = field(default_factory=lambda: Window(1000 * HOUR))

    def __post_init__(self) -> None:
        self.query = EmbeddedQuery(Engine(self.window, lookback=self.lookback))
        self.appender = WindowAppender(self.window)
        self.context = Context(self.query, self.appender, self.external_labels, self.external_url)
        self.manager = self.build(self.groups)

    def build(self, groups: Iterable[RuleGroup]) -> Manager:
        return Manager(groups, self.context, self.step, lambda: 0.0)

    def feed(self, series: Mapping[Labels, Values], number: int) -> None:
        """Write the samples of step `number`; each series has a writer of its own, so that gaps are gaps."""
        for labels, values in series.items():
            value = values[number] if number < len(values) else None
            if value is not None:
                block = self.window.block(labels)
                columns = () if is_stale(value) else (block.column(labels),)
                block.append(number * self.step, columns, [value] * len(columns))

    def play(self, series: Mapping[Labels, Values], steps: int) -> None:
        """Go through `steps` steps from the epoch on; at each, samples come first and then every rule."""
        for number in range(steps):
            self.feed(series, number)
            self.manager.evaluate(number * self.step)

    def reload(self, groups: Iterable[RuleGroup], at: Instant) -> list[Alert]:
        """Go over to other rules, as the daemon does; return what dispatch hears at once."""
        new = self.build(groups)
        told = new.take_over(self.manager, at)
        self.appender.retire(self.appender.owners - new.owners, at)
        self.manager = new
        return told

    def answer(self, expr: str, at: Instant) -> list[tuple[Labels, float]]:
        """Return an instant vector, sorted by its labels."""
        return sorted(self.query(expr, at))

    def errors(self) -> list[tuple[str, str]]:
        """Return the rules that the last evaluation found in error, each with what was wrong."""
        return [
            (rule.spec.name, verdict.error)
            for group in self.manager.groups
            for rule, verdict in zip(group.rules, group.verdicts, strict=True)
            if verdict.health is Health.ERR
        ]
