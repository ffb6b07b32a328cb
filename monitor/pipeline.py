"""
The path of the data, from a page to a receiver's lane, without a timer.

The daemon calls the steps from its schedule; the demo, replays and tests call `round` on a clock that they move.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.clock import Clock, monotonic_seconds
from monitor.dispatch.dispatcher import Dispatcher
from monitor.metrics import Metrics
from monitor.model.instant import Duration, Instant
from monitor.notify.outbox import Outbox
from monitor.rules.group import Health
from monitor.rules.manager import Manager
from monitor.scrape.target import ScrapeLoop
from monitor.storage.window import Window


@dataclass(frozen=True)
class Pipeline:
    """The parts in the order of the data. What a step did is counted in `metrics`."""

    clock: Clock
    window: Window
    loops: Sequence[ScrapeLoop]
    manager: Manager
    dispatcher: Dispatcher
    outbox: Outbox
    metrics: Metrics

    @property
    def scrape_intervals(self) -> set[Duration]:
        return {loop.options.scrape_interval for loop in self.loops}

    def scrape(self, loop: ScrapeLoop, at: Instant) -> None:
        """Scrape one target; a failure is data and has been written as such."""
        result = loop.scrape(at)
        self.metrics.scrapes.labels(loop.target.job).inc()
        if result.reason is not None:
            self.metrics.scrapes_failed.labels(loop.target.job, result.reason.value).inc()

    def evaluate(self, at: Instant, interval: Duration | None = None) -> None:
        """Evaluate the groups of `interval` (None: all) at `at`, and hand their alerts to dispatch."""
        began = monotonic_seconds()
        alerts = self.manager.evaluate(at, interval)
        self.dispatcher.insert(alerts, self.clock.now())
        self.window.prune(at)
        self.metrics.evaluation_seconds.observe(monotonic_seconds() - began)
        self._count_rules(at)

    def flush(self) -> Instant | None:
        """Put what receivers must be told into their lanes; returns when to come again, or None."""
        now = self.clock.now()
        for delivery in self.dispatcher.due(now).deliveries:
            self.outbox.put(delivery, now)
        return self.dispatcher.next_due()

    def round(self, at: Instant) -> None:
        """Do everything that is due at `at`, one after the other: for a clock that somebody moves."""
        for loop in self.loops:
            if at % loop.options.scrape_interval == 0:
                self.scrape(loop, at)
        for interval in sorted(self.manager.intervals):
            if at % interval == 0:
                self.evaluate(at, interval)
        self.flush()
        self.outbox.deliver_due(self.clock.now())

    def _count_rules(self, at: Instant) -> None:
        for group in self.manager.groups:
            if group.last_evaluation == at:
                failed = sum(verdict.health is Health.ERR for verdict in group.verdicts)
                self.metrics.evaluations.labels(group.spec.name).inc(len(group.verdicts))
                self.metrics.evaluations_failed.labels(group.spec.name).inc(failed)
