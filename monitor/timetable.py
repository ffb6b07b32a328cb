"""The daemon's timetable: which step of the pipeline runs when, on which threads."""

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

from monitor.arrival import Arrivals
from monitor.model.instant import MINUTE, SECOND, Duration, Instant, to_seconds
from monitor.pipeline import Pipeline
from monitor.probe.loop import ProbeLoop
from monitor.schedule import EVALUATE, HEARTBEAT, NOTIFY, PARTS, SAVE, SCRAPE, Schedule
from monitor.scrape.target import ScrapeLoop
from monitor.workers import Workers

log = logging.getLogger(__name__)

# How long after its slot the rules wait for the last target; a later answer counts in the next slot.
PATIENCE: Duration = SECOND
FLUSH, PROBE, SIGHT, TARGETS = "flush", "probe", "sight", "targets"
# Where targets come and go all the time, they are gone over at most so often. reference: Prometheus, discovery manager.
SYNC_EVERY: Duration = 5 * SECOND
SAVE_EVERY: Duration = MINUTE


class Ticking(Protocol):
    """Looks at every tick whether there is something to do."""

    @property
    def interval(self) -> Duration: ...

    def tick(self, now: Instant) -> None:
        """Never waits for anybody."""
        ...


class Scheduled(Protocol):
    """Has something to do at the times of a cron expression."""

    @property
    def schedule(self) -> str: ...
    @property
    def timezone(self) -> str: ...

    def tick(self, now: Instant) -> None:
        """Never waits for anybody."""
        ...


class Timetable:
    """
    Drives a pipeline in real time, from `start` to `stop`.

    Scrapes run on workers, side by side, and probes on those of their own, `probing`; the rules of a slot as soon as
    its scrapes are in, whether probes are or not; notifications at once behind the rules, and by a timer where a group
    waits. `save` is called every minute, `beating` and `escalating` as
    often as they like.
    The workers outlive the timetable, so that a target whose scrape is still under way is not scraped beside it.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        workers: Workers,
        save: Callable[[], None],
        beating: Ticking | None = None,
        escalating: Ticking | None = None,
        probing: Workers | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._workers = workers
        self._save = save
        self._beating = beating
        self._escalating = escalating
        self._probing = probing or workers
        self._now = pipeline.clock.now
        metrics = pipeline.metrics
        for part in (*PARTS, PROBE, SIGHT):
            # From 0 on, so that the first one is an increase.
            metrics.ticks_failed.labels(part)
        self._schedule = Schedule(
            pipeline.clock,
            failed=lambda part: metrics.ticks_failed.labels(part).inc(),
            missed=self._missed,
        )
        self._arrivals = Arrivals(self._now)
        self._planning = threading.Lock()
        self._scrape_intervals: set[Duration] = set()
        self._synced_at: Instant = 0
        self.first_round_done = threading.Event()

    def start(self) -> None:
        """Begin with a round at once: an incident that already stands must not wait for a slot."""
        self._schedule.once("first round", self._now(), EVALUATE, self._first_round)
        self._plan_scrapes()
        for interval in sorted(self._pipeline.manager.intervals):
            self._schedule.every(interval, EVALUATE, partial(self._evaluate, interval))
        self._schedule.every(SAVE_EVERY, SAVE, lambda _: self._save())
        if self._beating is not None:
            self._schedule.every(self._beating.interval, HEARTBEAT, self._beating.tick)
        if self._escalating is not None:
            self._schedule.every(self._escalating.interval, NOTIFY, self._escalating.tick)
        self._schedule.start()

    def watch(self, ticking: Ticking) -> None:
        """Have it look, too, beside the heartbeat; to be called before `start`."""
        self._schedule.every(ticking.interval, HEARTBEAT, ticking.tick)

    def also(self, ticking: Ticking) -> None:
        """Have something else looked at as often as it likes; to be called before `start`."""
        self._schedule.every(ticking.interval, NOTIFY, ticking.tick)

    def add(self, scheduled: Scheduled) -> None:
        """Have something done at its times, too; to be called before `start`."""
        self._schedule.cron(scheduled.schedule, scheduled.timezone, NOTIFY, scheduled.tick)

    def stop(self) -> None:
        """Start nothing any more. Scrapes under way may end later; nobody waits for them."""
        self._schedule.stop()

    def look(self) -> None:
        """Look again at when the next group is due: somebody else has inserted alerts."""
        self._plan_flush()

    def targets_changed(self) -> None:
        """Go over to the targets that have been found, soon; from any thread."""
        self._schedule.once(TARGETS, max(self._now(), self._synced_at + SYNC_EVERY), EVALUATE, self._sync)

    def _sync(self) -> None:
        # On the thread of the rules: no target goes while they are evaluated.
        self._synced_at = self._now()
        self._pipeline.sync()
        self._plan_scrapes()

    def _plan_scrapes(self) -> None:
        for interval in sorted(self._pipeline.scrape_intervals - self._scrape_intervals):
            self._schedule.every(interval, SCRAPE, partial(self._scrape, interval))
            self._scrape_intervals.add(interval)

    def _first_round(self) -> None:
        self._sync()
        at = self._now()
        landed = threading.Semaphore(0)
        self._probe_all(self._pipeline.probers, at)
        loops = self._pipeline.loops
        self._scrape_all(loops, at, lambda _: landed.release())
        for _ in loops:
            landed.acquire(timeout=max(0.0, to_seconds(at + PATIENCE - self._now())))
        self._pipeline.evaluate(at)
        self._plan_flush()
        self.first_round_done.set()
        self._see(at)

    def _scrape(self, interval: Duration, slot: Instant) -> None:
        # Begun first: a quick answer counts in the very evaluation that the scrapes of the slot bring about.
        self._probe_all([prober for prober in self._pipeline.probers if prober.interval == interval], slot)
        loops = [loop for loop in self._pipeline.loops if loop.options.scrape_interval == interval]
        self._arrivals.expect(slot, interval, loops)
        self._scrape_all(loops, slot, lambda loop: self._arrivals.landed(slot, loop))

    def _scrape_all(self, loops: Iterable[ScrapeLoop], at: Instant, landed: Callable[[ScrapeLoop], None]) -> None:
        for loop in loops:
            if not self._workers.submit(loop.owner, partial(self._scrape_one, loop, at, landed)):
                self._pipeline.metrics.scrapes_skipped.labels(loop.target.job).inc()
                landed(loop)

    def _scrape_one(self, loop: ScrapeLoop, at: Instant, landed: Callable[[ScrapeLoop], None]) -> None:
        try:
            self._pipeline.scrape(loop, at)
        except Exception:  # nothing escapes a tick; it is counted
            log.exception("scrape failed unexpectedly", extra={"target": loop.target.url})
            self._pipeline.metrics.ticks_failed.labels(SCRAPE).inc()
        finally:
            landed(loop)

    def _probe_all(self, probers: Iterable[ProbeLoop], at: Instant) -> None:
        pipeline = self._pipeline
        for prober in probers:
            if not self._probing.submit(prober.owner, partial(self._probe_one, pipeline.probe, prober, at)):
                pipeline.metrics.probes_skipped.labels(prober.target.job).inc()
            if prober.has_errands(at):
                self._probing.submit(prober.errand_key, partial(self._probe_one, pipeline.run_errands, prober, at))

    def _probe_one(self, probe: Callable[[ProbeLoop, Instant], None], prober: ProbeLoop, at: Instant) -> None:
        try:
            probe(prober, at)
        except Exception:  # nothing escapes a tick; it is counted
            log.exception("probe failed unexpectedly", extra={"target": prober.target.url})
            self._pipeline.metrics.ticks_failed.labels(PROBE).inc()

    def _evaluate(self, interval: Duration, slot: Instant) -> None:
        if not self._arrivals.wait(slot, self._scrape_intervals, slot + PATIENCE):
            log.debug("rules did not wait for every target", extra={"slot": slot})
        self._pipeline.evaluate(slot, interval)
        self._plan_flush()
        self._see(slot)

    def _see(self, at: Instant) -> None:
        # Not on the thread of the rules: a page taken apart is some milliseconds, and there may be many.
        self._workers.submit(SIGHT, partial(self._see_now, at))

    def _see_now(self, at: Instant) -> None:
        try:
            self._pipeline.see(at)
        except Exception:  # nothing escapes a tick; it is counted
            log.exception("nobody sees which rules are blind")
            self._pipeline.metrics.ticks_failed.labels(SIGHT).inc()

    def _flush(self) -> None:
        self._pipeline.tell()
        self._plan_flush()

    def _plan_flush(self) -> None:
        # In one piece: what one thread has looked up would else take the place of what another one has found since.
        with self._planning:
            due = self._pipeline.dispatcher.next_due()
            if due is not None:
                self._schedule.once(FLUSH, due, NOTIFY, self._flush)

    def _missed(self, part: str, slots: int) -> None:
        log.warning("slots missed", extra={"part": part, "slots": slots})
        if part == EVALUATE:
            self._pipeline.metrics.evaluations_missed.inc(slots)
