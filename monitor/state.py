"""Coming back to life: the state file opened, and what it holds put where it was."""

import logging
from dataclasses import dataclass
from pathlib import Path

from monitor.clock import Clock
from monitor.dispatch.nflog import NotificationLog
from monitor.dispatch.received import Received
from monitor.dispatch.silence import Silences
from monitor.journal import Journal, Waiting
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.notify.slack.incident import Incident
from monitor.pipeline import Pipeline
from monitor.rules.alerting_rule import BLIND
from monitor.rules.manager import Kept
from monitor.storage import snapshot
from monitor.storage.db import FILE_NAME, DamagedStateError, Database, Fence, StateError
from monitor.storage.history.filling import Filler
from monitor.storage.history.history import History
from monitor.storage.lease import put_in_place
from monitor.storage.lock import FolderLock
from monitor.storage.window import Window

log = logging.getLogger(__name__)

REACH: Duration = snapshot.REACH
# How long the absence of an alert proves nothing after a start with a hole in the samples; without any it is BLIND.
HOLE: Duration = MINUTE + 10 * SECOND


@dataclass(frozen=True)
class State:
    """
    The state folder of a daemon, which is its own, and what was read from it. All but `open` goes on without the disk.

    `letters` are deliveries that wait, `astray` the groups that others were told of; `down_at` is when rules were last
    evaluated. `received` are the groups of Alertmanagers of which something fires.
    """

    folder: Path
    lock: FolderLock
    journal: Journal
    alerts: tuple[Kept, ...]
    log: NotificationLog
    silences: Silences
    incidents: tuple[Incident, ...]
    letters: tuple[Waiting, ...]
    astray: tuple[tuple[str, str], ...]
    down_at: Instant | None
    history: History
    received: tuple[Received, ...] = ()

    @classmethod
    def open(cls, folder: Path, clock: Clock, metrics: Metrics, fence: Fence | None = None) -> "State":
        """
        Open what is there, or make it. A damaged file is set aside, loudly, and a new one begun.

        Raises StateError when there is no folder to write to, when another daemon has it, or when a newer program
        wrote the file. With a `fence` the folder is one of several daemons, of which this one is to write.
        """
        lock = FolderLock(folder, shared=fence is not None)
        try:
            put_in_place(folder)
            return cls._open(folder, lock, clock, metrics, fence)
        except BaseException:
            lock.close()
            raise

    def close(self) -> None:
        self.history.close()
        self.journal.close()
        self.lock.close()

    @classmethod
    def _open(cls, folder: Path, lock: FolderLock, clock: Clock, metrics: Metrics, fence: Fence | None) -> "State":
        try:
            return cls._read(folder, lock, clock, metrics, fence)
        except (DamagedStateError, ValueError, KeyError, TypeError) as err:
            aside = folder / f"{FILE_NAME}.damaged-{clock.now()}"
            (folder / FILE_NAME).rename(aside)
            for rest in (f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
                (folder / rest).unlink(missing_ok=True)
            metrics.state_set_aside.set(1)
            log.error(
                "the state file is damaged and was set aside: alerts start anew",
                extra={"reason": str(err), "file": str(aside)},
            )
            return cls._read(folder, lock, clock, metrics, fence)

    @classmethod
    def _read(cls, folder: Path, lock: FolderLock, clock: Clock, metrics: Metrics, fence: Fence | None) -> "State":
        database = Database(folder, fence)
        try:
            journal = Journal(database, metrics.state_failures.inc)
            entries = NotificationLog(dict(journal.notification_log(clock.now())))
            letters, astray, down_at = tuple(journal.letters()), tuple(journal.astray()), journal.evaluated()
            silences = Silences(journal.silences(), journal)
            incidents = tuple(journal.incidents())
            alerts, received = tuple(journal.alerts()), tuple(journal.received())
            history = History(folder, _Counted(metrics))
            metrics.watch_history(history.size)
            past = letters, astray, down_at, history, received
            return cls(folder, lock, journal, alerts, entries, silences, incidents, *past)
        except BaseException:
            database.close()
            raise

    def restore(self, pipeline: Pipeline, now: Instant) -> None:
        """Put samples, alerts and letters of the earlier life into a pipeline that has not begun."""
        newest = self._load_window(pipeline, now)
        if self.down_at is not None:
            # Of a target that has not been found yet nothing can be said either.
            blind = (
                BLIND if newest is None or not pipeline.pool.is_complete else HOLE if now - newest > 30 * SECOND else 0
            )
            pipeline.dispatcher.insert(pipeline.manager.restore(self.alerts, self.down_at, now, now + blind), now)
        pipeline.outbox.recall(self.astray)
        for waiting in self.letters:
            pipeline.outbox.put(waiting.delivery, now, waiting.attempts, diverted=waiting.diverted)

    def save_window(self, window: Window, now: Instant) -> None:
        """Write the snapshot, and append what is kept for longer."""
        if not self.journal.may_write():
            return
        try:
            snapshot.save(window, now - REACH, self.folder / snapshot.FILE_NAME)
        except StateError as err:
            log.error("window not saved", extra={"reason": str(err)})
        self.history.save(window, now)

    def _load_window(self, pipeline: Pipeline, now: Instant) -> Instant | None:
        probers = (owner for prober in pipeline.probers for owner in prober.owners)
        owners = {*(loop.owner for loop in pipeline.loops), *probers, *pipeline.manager.owners}
        filler = Filler(self.history.reader, pipeline.window, owners, now)
        # The last minutes of the life before are not in the history yet, however long ago they were.
        since = min(now - REACH, self.history.kept_until(now))
        try:
            newest = snapshot.load(pipeline.window, since, self.folder / snapshot.FILE_NAME, owners, filler.before)
        except StateError as err:
            log.warning("window not restored", extra={"reason": str(err)})
            newest = None
        filler.rest()
        if newest is not None and newest < now - REACH:
            newest = None  # too old for a rate to find anything
        self.history.since = now if newest is None else now - REACH
        self.history.begun = now
        return newest


class _Counted:
    """What goes wrong with the history, counted."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def failed(self) -> None:
        self._metrics.history_failures.inc()

    def damaged(self) -> None:
        self._metrics.history_damaged.inc()

    def refused(self, series: int) -> None:
        self._metrics.history_refused.inc(series)
