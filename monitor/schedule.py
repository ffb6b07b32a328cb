"""The only user of APScheduler: ticks on slots that are aligned to the epoch, and single jobs at an instant."""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from monitor.clock import Clock
from monitor.model.instant import Duration, Instant, slot_at_or_before, to_seconds

log = logging.getLogger(__name__)

SCRAPE, EVALUATE, NOTIFY, SAVE, HEARTBEAT = "scrape", "evaluate", "notify", "save", "heartbeat"
_EPOCH = datetime.fromtimestamp(0, UTC)
PARTS = (SCRAPE, EVALUATE, NOTIFY, SAVE, HEARTBEAT)


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
        self._stopping = False
        self._at_work = 0
        self._changed = threading.Condition()
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
            # One that is planned while the last of its name still runs comes after it; APScheduler would drop it.
            max_instances=2,
        )

    def cron(self, expression: str, zone: str, part: str, job: Callable[[Instant], None]) -> None:
        """Call `job(now)` at the times of a cron expression (five fields, weekdays by name) in a time zone."""
        trigger = CronTrigger.from_crontab(expression, timezone=ZoneInfo(zone))
        self._scheduler.add_job(lambda: self._guarded(part, lambda: job(self._clock.now())), trigger, executor=part)

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        """Start nothing any more; returns when the ticks that run have ended."""
        with self._changed:
            self._stopping = True
            # APScheduler waits with its lock held, and a tick that plans another needs that lock: it waits for none.
            self._changed.wait_for(lambda: not self._at_work)
        if self._scheduler.running:
            # A single job that is due at this very instant would raise in APScheduler's thread: none may be left.
            self._scheduler.pause()
            self._scheduler.remove_all_jobs()
            self._scheduler.shutdown(wait=True)

    def _guarded(self, part: str, job: Callable[[], None]) -> None:
        with self._changed:
            if self._stopping:
                return
            self._at_work += 1
        try:
            job()
        except Exception:  # nothing escapes a tick; it is counted
            log.exception("tick failed", extra={"part": part})
            self._failed(part)
        finally:
            with self._changed:
                self._at_work -= 1
                self._changed.notify_all()


def newest_time(expression: str, zone: str, after: Instant, until: Instant) -> Instant | None:
    """Return the newest time of a cron expression in `(after, until]`."""
    trigger = CronTrigger.from_crontab(expression, timezone=ZoneInfo(zone))
    end, newest = _date(until), None
    # It finds a time at or after what it is given, of whole seconds.
    found = trigger.get_next_fire_time(None, _date(after) + timedelta(milliseconds=1))
    while found is not None and found <= end:
        newest = found
        found = trigger.get_next_fire_time(found, found + timedelta(seconds=1))
    return None if newest is None else (newest - _EPOCH) // timedelta(milliseconds=1)


def _date(at: Instant) -> datetime:
    return datetime.fromtimestamp(to_seconds(at), UTC)
