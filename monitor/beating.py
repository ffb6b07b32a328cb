"""The heartbeat of a daemon at work: what is looked at, what is counted, and who is told when it fails."""

import logging
from collections.abc import Callable, Iterable

from monitor.config.heartbeat import HeartbeatConfig
from monitor.config.secret import held
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.notify.heartbeat import Heartbeat, Rhythm, Verdict, judge
from monitor.pipeline import Pipeline
from monitor.stalled import Stalled
from monitor.workers import Workers

log = logging.getLogger(__name__)

KEY = "heartbeat"


class Beating:
    """
    Looks at every tick whether all is well.

    With a `config` it then gives a sign of life. The request is made by a worker: whatever becomes of it, no tick waits
    for it, and no second one is made beside it. What stands still is told to the receivers as well: `look` is called
    when the dispatcher has something new.
    """

    def __init__(
        self,
        config: HeartbeatConfig | None,
        pipeline: Pipeline,
        workers: Workers,
        stalled: Stalled,
        look: Callable[[], None],
    ) -> None:
        self.interval: Duration = config.interval if config is not None else MINUTE
        self._stuck_after = config.stuck_after if config is not None else 5 * MINUTE
        self._heartbeat = Heartbeat(held(config.url, config.url_file), config.method) if config is not None else None
        self._pipeline = pipeline
        self._workers = workers
        self._stalled = stalled
        self._look = look
        self._last = Verdict.ALIVE
        self._failed = False

    def tick(self, now: Instant) -> None:
        """Decide, count, and have it sent or told."""
        verdict = self._verdict(now)
        if self._pipeline.upstream is not None:
            # That Prometheus does not answer is an alert of its own.
            verdict_of_rules = Verdict.ALIVE if self._evaluates(now) else Verdict.NO_EVALUATIONS
            heard = self._stalled.hear(verdict_of_rules, now)
        else:
            # Who scrapes nothing, because others post their alerts, has nothing that could stand still.
            heard = bool(self._pipeline.loops) and self._stalled.hear(verdict, now)
        if heard:
            self._look()
        if self._heartbeat is not None:
            self._beat(verdict, self._heartbeat)

    def goes_on(self, now: Instant) -> bool:
        """Return whether the rules are evaluated, and, where there are targets, any of them is scraped."""
        scrapes, _ = self._rhythms()
        is_scraping = not self._pipeline.loops or any(rhythm.goes_on(now) for rhythm in scrapes)
        return is_scraping and self._evaluates(now)

    def _beat(self, verdict: Verdict, heartbeat: Heartbeat) -> None:
        if verdict is not self._last:
            level = logging.INFO if verdict is Verdict.ALIVE else logging.ERROR
            log.log(level, "heartbeat goes on" if verdict is Verdict.ALIVE else "no heartbeat", extra={"why": verdict})
        self._last = verdict
        if verdict is not Verdict.ALIVE:
            self._pipeline.metrics.heartbeats_withheld.labels(verdict.value).inc()
        elif not self._workers.submit(KEY, lambda: self._send(heartbeat)):
            self._pipeline.metrics.heartbeats_failed.labels("busy").inc()

    def _verdict(self, now: Instant) -> Verdict:
        scrapes, evaluations = self._rhythms()
        upstream, intervals = self._pipeline.upstream, self._pipeline.manager.intervals
        if upstream is not None:
            # Scraped is there.
            scrapes = [Rhythm(max(intervals, default=MINUTE), upstream.answered_at)]
        return judge(scrapes, evaluations, self._pipeline.outbox.failing_since(), self._stuck_after, now)

    def _evaluates(self, now: Instant) -> bool:
        return all(rhythm.goes_on(now) for rhythm in self._rhythms()[1])

    def _rhythms(self) -> tuple[Iterable[Rhythm], Iterable[Rhythm]]:
        pipeline = self._pipeline
        scrapes = (Rhythm(loop.options.scrape_interval, loop.health.last_scrape) for loop in pipeline.loops)
        evaluations = (Rhythm(group.interval, group.last_evaluation) for group in pipeline.manager.groups)
        return scrapes, evaluations

    def _send(self, heartbeat: Heartbeat) -> None:
        metrics = self._pipeline.metrics
        metrics.heartbeats.inc()
        try:
            heartbeat.send()
        except NotifyError as err:
            metrics.heartbeats_failed.labels(err.reason).inc()
            # Once, not at every attempt: the counter has the rest.
            log.log(logging.DEBUG if self._failed else logging.WARNING, "heartbeat not sent: %s", err)
            self._failed = True
        except Exception:  # a job of a worker must not raise
            metrics.heartbeats_failed.labels("internal").inc()
            log.exception("heartbeat failed unexpectedly")
        else:
            self._failed = False
