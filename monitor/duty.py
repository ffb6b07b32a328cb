"""
One of several daemons over one folder: on duty, when it tells people, or standing by for the one that is.

Whoever stands by scrapes and evaluates as the other does and tells nobody. It goes on duty when that one is gone, or
lives and gives no sign of it; then it starts as after a restart, from the state file and from its own last minutes.
"""

import contextlib
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from monitor.app import App, StartError, refuse_what_needs_a_restart
from monitor.clock import Clock, boot_milliseconds
from monitor.config.alerting import AlertingConfig
from monitor.config.config import Config
from monitor.config.interactive import InteractiveConfig
from monitor.config.receiving import ReceiverConfig
from monitor.model.instant import SECOND, Duration, to_seconds
from monitor.notify.transport import LAST_LOOK
from monitor.role import ALONE, Role
from monitor.storage.db import StateError
from monitor.storage.lease import Fence, HeldError, Lease, Sign, Watcher, is_locked, take_out
from monitor.storage.lock import FolderLock
from monitor.storage.snapshot import FILE_NAME as SNAPSHOT
from monitor.supervisor import NOBODY, Supervisor
from monitor.yamldoc.mistake import DocumentError

log = logging.getLogger(__name__)

# How often within a lease the one on duty gives a sign of life, and how often the others look at least.
OFTEN = 5
LOOK_EVERY = SECOND
# What those that stand by keep, in the folder of all.
_SCRATCH = "standby-"


def leave() -> None:
    """End this process at once: somebody else has its duty, and nothing must be told any more."""
    log.critical("another daemon has taken over: this one ends, to be started again")
    # No thread may get any further, and nothing needs to be tidied up after: as after a kill.
    os._exit(1)


class Duty:
    """
    A daemon with the same life as App's: `start`, `reload`, `stop`. Without `ha` in the configuration it is just that.

    `lost` is called by the one on duty when another one has taken over, from whichever thread sees it first.
    """

    def __init__(
        self,
        load: Callable[[], Config],
        clock: Clock,
        supervisor: Supervisor = NOBODY,
        lost: Callable[[], None] = leave,
    ) -> None:
        self._load = load
        self._clock = clock
        self._supervisor = supervisor
        self._lost = lost
        self._app: App | None = None
        self._lease: Lease | None = None
        self._scratch: Path | None = None
        self._port = 0
        # Why it could not go on duty, and before when it does not try again.
        self._trouble = ""
        self._not_before: Duration = 0
        # Held while one App takes the place of another.
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        # Never set: what keeps the lease is over when that is let go.
        self._pause = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="duty", daemon=True)

    def start(self) -> int:
        """Start, on duty when nobody is; returns the port of the HTTP side. Raises StartError."""
        try:
            config = self._load()
        except DocumentError as err:
            raise StartError(str(err)) from err
        if config.ha is None:
            self._app = App(self._load, self._clock, self._supervisor, ALONE)
            return self._app.start()
        self._last, self._folder, self._patience = config, config.storage.path, config.ha.lease
        self._watcher = Watcher(self._folder, config.ha.lease)
        self._look_every = to_seconds(min(config.ha.lease // OFTEN, LOOK_EVERY))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            sign = self._watcher.look(boot_milliseconds())
            if sign is Sign.ALIVE or not self._go_on_duty(sign):
                self._stand_by()
        except (StateError, OSError) as err:
            raise StartError(str(err)) from err
        self._thread.start()
        return self._port

    def reload(self) -> str:
        with self._lock:
            return self._app.reload() if self._app is not None else "not running"

    def stop(self) -> None:
        """End what runs; if it is on duty, another one is at once."""
        self._stopping.set()
        with self._lock:
            self._end()
        if self._thread.is_alive():
            self._thread.join(to_seconds(LOOK_EVERY))

    def _watch(self) -> None:
        while not self._stopping.wait(self._look_every):
            try:
                self._look()
            except (StateError, StartError, OSError) as err:
                # Once, and not at every look.
                if str(err) != self._trouble:
                    log.error("cannot go on duty: %s", err)
                self._trouble = str(err)
            except Exception:  # nothing escapes a tick
                log.exception("looking who is on duty failed")

    def _look(self) -> None:
        if self._lease is not None:
            return
        now = boot_milliseconds()
        try:
            sign = self._watcher.look(now)
            if sign is Sign.ALIVE:
                self._trouble = ""
            with self._lock:
                if sign is not Sign.ALIVE and now >= self._not_before and not self._stopping.is_set():
                    self._relieve(sign)
        finally:
            with self._lock:
                if self._app is None and not self._stopping.is_set():
                    self._stand_by()

    def _relieve(self, sign: Sign) -> None:
        """Go on duty, with what was seen while standing by."""
        try:
            self._go_on_duty(sign)
        except BaseException:
            # Each attempt costs whoever stands by what it does meanwhile, and another daemon may be better off.
            self._not_before = boot_milliseconds() + self._patience
            raise

    def _keep(self, lease: Lease) -> None:
        """Give the sign of life, also while much is read at a start, and while what waits goes out at the end."""
        while lease.is_held:
            if not lease.renew() and lease.is_held:
                self._lost()
            self._pause.wait(self._look_every)

    def _go_on_duty(self, sign: Sign) -> bool:
        """Take the lease and start; False when another one was quicker. Raises StartError, StateError."""
        try:
            lease = Lease.take(self._folder, self._watcher.generation)
        except HeldError:
            return False
        log.info("going on duty", extra={"generation": lease.generation, "other": sign.name.lower()})
        fence = Fence(self._folder, lease.generation, self._lost)
        threading.Thread(target=self._keep, args=(lease,), name="lease", daemon=True).start()
        try:
            self._stand_by_no_more()
            self._take_out(sign, lease.generation)
            LAST_LOOK.set(fence.look)
            self._run(lambda config: config, Role(stands_by=False, fence=fence))
        except BaseException:
            LAST_LOOK.clear()
            lease.release()
            raise
        self._lease = lease
        log.info("on duty", extra={"generation": lease.generation})
        return True

    def _take_out(self, sign: Sign, generation: int) -> None:
        """See to it that it does not matter what the other one, which may only hang, holds of the state file."""
        # Nothing is touched that belongs to one that knows of no lease.
        with contextlib.closing(FolderLock(self._folder, shared=True)):
            locked = is_locked(self._folder)
            if sign is not Sign.SILENT and not locked:
                return
            try:
                take_out(self._folder, generation)
            except StateError as err:
                if locked:
                    raise
                # It is damaged, or the disk is full: that somebody is on duty matters more.
                log.error("going on with the state file that the other one has: %s", err)

    def _stand_by_no_more(self) -> None:
        standby, self._app = self._app, None
        if standby is not None:
            log.warning("relieving the one that was on duty")
            standby.stop()
        if self._scratch is not None:
            copy = self._folder / f"{SNAPSHOT}.standby"
            try:
                shutil.copyfile(self._scratch / SNAPSHOT, copy)
                copy.replace(self._folder / SNAPSHOT)
            except OSError:
                # On a full disk half a file would take the room that the state file needs.
                with contextlib.suppress(OSError):
                    copy.unlink(missing_ok=True)

    def _stand_by(self) -> None:
        if self._scratch is None:
            _clear(self._folder)
            # Not in the folder for temporary files, which a container may not have.
            self._scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self._folder))
        scratch = self._scratch
        self._run(lambda config: telling_nobody(config, scratch), Role(stands_by=True))
        log.info("standing by")

    def _run(self, change: Callable[[Config], Config], role: Role) -> None:
        begun = False

        def load() -> Config:
            try:
                config = self._load()
                refuse_what_needs_a_restart(self._last, config)
                self._last = config
            except (DocumentError, StartError) as err:
                # Whoever reloads is told so. But nobody is on duty any more: what was good is better than nothing.
                if begun:
                    raise
                log.error("the configuration is wrong: going on with the last one that was not: %s", err)
            return self._at_port(change(self._last))

        app = App(load, self._clock, self._supervisor, role)
        self._port = app.start()
        begun = True
        self._app = app

    def _at_port(self, config: Config) -> Config:
        """Return the configuration with the port that was free at the start, where any would have done."""
        listen = config.web.listen
        if listen.port or not self._port:
            return config
        return replace(config, web=config.web.model_copy(update={"listen": listen._replace(port=self._port)}))

    def _end(self) -> None:
        if self._app is not None:
            self._app.stop()
        if self._lease is not None:
            LAST_LOOK.clear()
            self._lease.release()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def _clear(folder: Path) -> None:
    """Take away what those that stood by and were killed have left behind."""
    for left in folder.glob(f"{_SCRATCH}*"):
        with contextlib.suppress(StateError), contextlib.closing(FolderLock(left)):
            shutil.rmtree(left, ignore_errors=True)


def telling_nobody(config: Config, folder: Path) -> Config:
    """Return the configuration of the one that stands by: it watches the same, and keeps what it sees in `folder`."""
    return replace(
        config,
        storage=config.storage.model_copy(update={"path": folder}),
        receivers=tuple(ReceiverConfig(name=receiver.name) for receiver in config.receivers),
        heartbeat=None,
        report=None,
        slack=InteractiveConfig(),
        alerting=AlertingConfig(),
        remote_write=(),
    )
