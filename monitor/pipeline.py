"""
The path of the data, from a page to a receiver's lane, without a timer.

The daemon calls the steps from its schedule; the demo, replays and tests call `round` on a clock that they move.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from monitor.clock import Clock, monotonic_seconds
from monitor.dispatch.dispatcher import Delivery, Dispatcher, Flush
from monitor.metrics import Metrics
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.notify.outbox import Outbox
from monitor.notify.severity import urgency
from monitor.pool import Pool
from monitor.probe.loop import Outcome, ProbeLoop
from monitor.rules.group import Health
from monitor.rules.manager import AlertKey, Kept, Manager
from monitor.scrape.target import ScrapeLoop
from monitor.starts import Starts
from monitor.storage.window import Window
from monitor.watching import Watch, Watched


class Beyond(Protocol):
    """Somebody else whom the rules depend on, and who may fail them."""

    @property
    def answered_at(self) -> Instant | None:
        """When it last did all that was asked of it."""
        ...

    def alerts(self, at: Instant, interval: Duration | None = None) -> Sequence[Alert]:
        """Return the alerts that no rule can raise, after the evaluation of the groups of `interval` at `at`."""
        ...

    @property
    def targets(self) -> Sequence[Watched]:
        """The servers that it knows of, for who scrapes none himself."""
        ...

    def look(self, at: Instant) -> None:
        """Look whether there is what rules need. It may take its time."""
        ...

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        ...


class Journal(Protocol):
    """Keeps what a step came to beyond the life of the process; never raises."""

    def commit(
        self, changed: Sequence[Kept], gone: Sequence[AlertKey], flush: Flush, evaluated: Instant = 0
    ) -> None: ...


@dataclass(frozen=True)
class Pipeline:
    """
    The parts in the order of the data. What a step did is counted in `metrics`.

    A replay has no `journal`: no restart interrupts it. `write_own_series` is called before each evaluation, and what
    probes have found by then is written; `watch` sees which rules are blind, `starts` how servers have changed.
    """

    clock: Clock
    window: Window
    pool: Pool
    manager: Manager
    dispatcher: Dispatcher
    outbox: Outbox
    metrics: Metrics
    journal: Journal | None = None
    write_own_series: Callable[[Instant], None] = lambda _: None
    watch: Watch | None = None
    starts: Starts | None = None
    upstream: Beyond | None = None
    # A flush between an evaluation and its being kept would tell of alerts that a restart knows nothing of.
    _step: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def loops(self) -> tuple[ScrapeLoop, ...]:
        return tuple(self.pool.members.loops.values())

    @property
    def probers(self) -> tuple[ProbeLoop, ...]:
        return tuple(self.pool.members.probers.values())

    @property
    def scrape_intervals(self) -> set[Duration]:
        return self.pool.scrape_intervals

    def sync(self) -> None:
        """Go over to the targets that have been found by now."""
        if self.pool.sync(self.clock.now()) and self.watch is not None:
            self.watch.follow(self.loops)

    def scrape(self, loop: ScrapeLoop, at: Instant) -> None:
        """Scrape one target; a failure is data and has been written as such."""
        result = loop.scrape(at)
        self.metrics.scrapes.labels(loop.target.job).inc()
        if result.reason is not None:
            self.metrics.scrapes_failed.labels(loop.target.job, result.reason.value).inc()
        self.metrics.samples_dropped.labels(loop.target.job).inc(result.dropped)

    def probe(self, prober: ProbeLoop, at: Instant) -> None:
        """Ask one target what its page does not say."""
        self._count_probes(prober, prober.probe(at))

    def run_errands(self, prober: ProbeLoop, at: Instant) -> None:
        """Ask one target what may take its time."""
        self._count_probes(prober, prober.run_errands(at))

    def evaluate(self, at: Instant, interval: Duration | None = None) -> None:
        """Evaluate the groups of `interval` (None: all) at `at`, and tell receivers what is news to them."""
        began = monotonic_seconds()
        self.write_own_series(at)
        for prober in self.probers:
            prober.write(at)
        alerts = self.manager.evaluate(at, interval)
        if self.upstream is not None:
            alerts = [*alerts, *self.upstream.alerts(at, interval)]
        with self._step:
            self.dispatcher.insert(alerts, self.clock.now())
            self.tell(*self.manager.changes(), evaluated=at)
        self.window.prune(at)
        self.metrics.evaluation_seconds.observe(monotonic_seconds() - began)
        self._count_rules(interval)

    def see(self, at: Instant) -> None:
        """Look which rules are blind, where that may have changed, and which servers are others than before."""
        if self.upstream is not None:
            self.upstream.look(at)
            if self.watch is not None and not self.pool.members.loops:
                self.watch.follow(self.upstream.targets)
        if self.watch is not None:
            self.watch.step(at)
        if self.starts is not None:
            self.starts.step(self.probers, at)

    def tell(self, changed: Sequence[Kept] = (), gone: Sequence[AlertKey] = (), *, evaluated: Instant = 0) -> None:
        """
        Flush the groups that are due.

        How the alerts stand, and what is to be said of them, are kept in one piece before it is said.
        """
        with self._step:
            now = self.clock.now()
            flush = self.dispatcher.due(now)
            if self.journal is not None:
                self.journal.commit(changed, gone, flush, evaluated)
            # The worst first: a lane may be at work before the last has come.
            for delivery in sorted(flush.deliveries, key=_urgency):
                self.outbox.put(delivery, now)

    def round(self, at: Instant) -> None:
        """Do everything that is due at `at`, one after the other: for a clock that somebody moves."""
        for loop in self.loops:
            if at % loop.options.scrape_interval == 0:
                self.scrape(loop, at)
        for prober in self.probers:
            if at % prober.interval == 0:
                self.probe(prober, at)
                self.run_errands(prober, at)
        for interval in sorted(self.manager.intervals):
            if at % interval == 0:
                self.evaluate(at, interval)
        self.see(at)
        self.tell()
        self.outbox.deliver_due(self.clock.now())

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: samples, alerts, groups and letters move along."""
        for part in (self.window, self.manager, self.outbox):
            part.shift(by)
        for prober in self.probers:
            prober.shift(by)
        if self.upstream is not None:
            self.upstream.shift(by)
        if self.watch is not None:
            self.watch.shift(by)
        if self.starts is not None:
            self.starts.shift(by)
        flush = self.dispatcher.shift(by)
        if self.journal is not None:
            self.journal.commit(*self.manager.changes(), flush)

    def _count_probes(self, prober: ProbeLoop, outcome: Outcome) -> None:
        job = prober.target.job
        for probe, reason in outcome.items():
            self.metrics.probes.labels(job, probe.value).inc()
            if reason is not None:
                self.metrics.probes_failed.labels(job, probe.value, reason.value).inc()

    def _count_rules(self, interval: Duration | None) -> None:
        for group in self.manager.groups:
            if interval in (None, group.interval):
                failed = sum(verdict.health is Health.ERR for verdict in group.verdicts)
                self.metrics.evaluations.labels(group.spec.name).inc(len(group.verdicts))
                self.metrics.evaluations_failed.labels(group.spec.name).inc(failed)


def _urgency(delivery: Delivery) -> int:
    return urgency(delivery.notification.alerts, delivery.notification.now)
