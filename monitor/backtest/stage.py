"""The daemon's own rules and dispatch on a clock that is moved, with somebody who counts in the place of receivers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.backtest.order import Member, members
from monitor.backtest.outcome import Observer, Outcome, RuleName
from monitor.clock import VirtualClock
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.metrics import Metrics
from monitor.model.instant import Instant
from monitor.notify.letter import Attempt
from monitor.notify.outbox import Outbox
from monitor.pipeline import Pipeline
from monitor.pool import Pool
from monitor.promql import Engine
from monitor.rules.manager import Manager
from monitor.storage.window import Window


class Told:
    """A receiver that is content with everything."""

    def notify(self, notification: object) -> None:
        """Take it; that it came is noted where attempts are."""


@dataclass
class Stage:
    """What a player moves; the manager's context reads and writes `window`, and `engine` reads it too."""

    clock: VirtualClock
    window: Window
    engine: Engine
    manager: Manager
    pipeline: Pipeline
    observer: Observer
    rules: list[Member] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    @classmethod
    def of(
        cls,
        clock: VirtualClock,
        window: Window,
        engine: Engine,
        manager: Manager,
        dispatch: tuple[Dispatcher, Mapping[str, Sequence[Integration]]],
        metrics: Metrics,
    ) -> "Stage":
        """Return the stage of these parts; `dispatch` are the dispatcher and the integrations that it knows."""
        observer = Observer(manager.context.external_labels)
        dispatcher, integrations = dispatch
        notifiers = {one.name: Told() for some in integrations.values() for one in some}

        def report(attempt: Attempt) -> None:
            observer.hear(attempt.delivery)

        outbox = Outbox(notifiers, report)
        pipeline = Pipeline(clock, window, Pool((), window), manager, dispatcher, outbox, metrics)
        return cls(clock, window, engine, manager, pipeline, observer, members(manager))

    def look_for_data(self) -> None:
        """Note which rules find any series now."""
        for rule in self.rules:
            if rule.number not in self._seen and any(self.window.select(one.matchers) for one in rule.plan.selectors):
                self._seen.add(rule.number)

    def outcome(self, period: Outcome) -> Outcome:
        """Return what came of it."""
        names = [RuleName(rule.group.spec.name, rule.name, rule.alert is not None) for rule in self.rules]
        # An expression without selectors needs no data.
        blind = [rule.number for rule in self.rules if rule.plan.selectors and rule.number not in self._seen]
        return self.observer.outcome(period, names, blind)

    def slots(self, after: Instant, until: Instant) -> list[Instant]:
        """Return the times in `(after, until]` at which any group is due."""
        found: set[Instant] = set()
        for interval in self.manager.intervals:
            found.update(range((after // interval + 1) * interval, until + 1, interval))
        return sorted(found)
