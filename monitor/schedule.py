"""The only user of APScheduler: ticks on slots that are aligned to the epoch, and single jobs at an instant."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from monitor.clock import Clock
from monitor.model.instant import Duration, Instant, slot_at_or_before, to_seconds

log = logging.getLogger(__name__)

SCRAPE, EVALUATE, NOTIFY, SAVE = "scrape", "evaluate", "notify", "save"
PARTS = (SCRAPE, EVALUATE, NOTIFY, SAVE)


class Schedule:
    """
    Calls ticks with their slot.

    Each part has threads of its own, so that a slow scrape starves no evaluation. A tick that is still running is not
    started a second time; slots that were missed (a sleeping laptop, a slow round) are counted, not caught up.
    `failed` hears of a tick that raised, `missed` of the number of slots left out; both get the name of the part.
    """

    def __init__(self, clock: Clock, failed: Callable[[str], None], missed: Callable[[str, int], None]) -> None:
        self._clock = clock
        self._failed = failed
        self._missed = missed
        self._scheduler = BackgroundScheduler(
            executors={part: ThreadPoolExecutor(1) for part in PARTS},
            # APScheduler's defaults drop a tick that starts more than a second late.
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            timezone=UTC,
        )

    def every(self, interval: Duration, part: str, tick: Callable[[Instant], None]) -> None:
        """Call `tick(slot)` at every multiple of `interval`, from the next one on."""
        first = slot_at_or_before(self._clock.now(), interval) + interval
        last: list[Instant] = []

        def run() -> None:
            slot = slot_at_or_before(self._clock.now(), interval)
            if last and slot <= last[0]:
                return  # the clock was set back: this slot has been
            if last and slot - last[0] > interval:
                self._missed(part, (slot - last[0]) // interval - 1)
            last[:] = [slot]
            self._guarded(part, lambda: tick(slot))

        trigger = IntervalTrigger(seconds=to_seconds(interval), start_date=_date(first), timezone=UTC)
        self._scheduler.add_job(run, trigger, executor=part)

    def once(self, name: str, at: Instant, part: str, job: Callable[[], None]) -> None:
        """Call `job` at `at`, or at once if that is past; a job of the same name that still waits is replaced."""
        self._scheduler.add_job(
            lambda: self._guarded(part, job),
            DateTrigger(_date(at), timezone=UTC),
            executor=part,
            id=name,
            replace_existing=True,
        )

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        """Start nothing any more; returns when the ticks that run have ended."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)

    def _guarded(self, part: str, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:  # nothing escapes a tick; the count has an alert
            log.exception("tick failed", extra={"part": part})
            self._failed(part)


def _date(at: Instant) -> datetime:
    return datetime.fromtimestamp(to_seconds(at), UTC)
