"""The life of the daemon: start, reload, stop."""

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from monitor import __version__
from monitor.build import Builder, Parts
from monitor.clock import Clock, boot_milliseconds
from monitor.clockwatch import ClockWatch
from monitor.config.config import Config
from monitor.discovery.errors import DiscoveryError
from monitor.discovery.provider import Listener
from monitor.dispatching import Dispatching
from monitor.forwarding import Forwarding
from monitor.httpside import HttpSide
from monitor.inbox import Inbox
from monitor.interaction import Interaction
from monitor.liaison import Liaison
from monitor.metrics import Metrics
from monitor.model.instant import SECOND, Duration, to_seconds
from monitor.ownseries import OwnSeries
from monitor.probe.collector import ProbeCollector
from monitor.remotemetrics import RemoteWriteMetrics
from monitor.remotewriting import Remoting
from monitor.reporting import report
from monitor.role import ALONE, Role
from monitor.running import Lasting, Running
from monitor.sight.blindness import Blindness
from monitor.state import State
from monitor.storage.db import StateError
from monitor.storage.window import Window
from monitor.supervisor import NOBODY, Supervisor
from monitor.web.server import Server
from monitor.workers import Workers
from monitor.yamldoc.mistake import DocumentError

log = logging.getLogger(__name__)


# How long a start or a reload waits for the first answers of those who look for targets.
PATIENCE: Duration = 2 * SECOND


class StartError(Exception):
    """The daemon cannot start, or not with this configuration; the message is for its user."""


class App:
    """
    The daemon. `load` returns the configuration anew each time; it raises DocumentError.

    What outlives a reload: the window, the dispatcher with its log, the metrics, the state file and the HTTP side.
    """

    def __init__(
        self, load: Callable[[], Config], clock: Clock, supervisor: Supervisor = NOBODY, role: Role = ALONE
    ) -> None:
        self._load = load
        self._role = role
        self._supervisor = supervisor
        self._clock = clock
        self._registry = _registry()
        self._metrics = Metrics(self._registry, __version__)
        self._window = Window()
        self._metrics.active.set(not role.stands_by)
        self._metrics.watch_size(self._window.size)
        self._builder = Builder(clock, self._window, self._metrics, probes=True, watches=True, synchronizes=True)
        self._discoveries = self._builder.discoveries
        self._discoveries.listener = Listener(self._targets_changed, self._looked_for_targets)
        # Held by whoever replaces what runs, or what it consists of.
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._running: Running | None = None
        self._side = HttpSide(lambda: self._running, self.reload, self._window, clock, self._metrics, role)
        self._registry.register(ProbeCollector(self._side.probers, clock.now))
        self._registry.register(Blindness(lambda: self._side.sight().unexplained))

    def start(self) -> int:
        """Start everything and return the port of the HTTP side. Raises StartError, and then nothing runs."""
        try:
            config = self._load()
            parts = self._builder.build(config)
        except DocumentError as err:
            raise StartError(str(err)) from err
        with contextlib.ExitStack() as undo:
            state = self._open_state(config)
            undo.callback(state.close)
            server = self._listen(config)
            undo.callback(server.stop)
            lasting = self._lasting(parts, state, server)
            undo.callback(self._discoveries.keep_only, ())
            self._discoveries.begin(config.scrape_configs, PATIENCE)
            running = self._assemble(parts, lasting)
            running.pipeline.sync()
            state.restore(running.pipeline, self._clock.now())
            undo.pop_all()
        # Whoever asks for a reload as soon as the port answers waits: what has yet to begin cannot be stopped.
        with self._lock:
            self._running = running
            # Before the first evaluation reads it: a start is no reload that was refused.
            self._accepted(config)
            server.start()
            running.begin()
            running.catch_up()
        watch = ClockWatch(self._clock.now, boot_milliseconds).watch
        threading.Thread(target=watch, args=(self._stopping, self.clock_was_set), name="clock", daemon=True).start()
        log.info("started", extra={"version": __version__, "listen": f"{config.web.listen.host}:{server.port}"})
        return server.port

    def reload(self) -> str:
        """
        Load the configuration again and go over to it; returns what is wrong with it, or "".

        Everything that can fail comes before anything that stops the old one.
        """
        with self._lock:
            old = self._running
            if old is None or self._stopping.is_set():
                return "not running"
            try:
                config = self._load()
                refuse_what_needs_a_restart(old.parts.config, config)
                parts = self._builder.build(config, old.parts)
            except (DocumentError, StartError) as err:
                self._metrics.reload_successful.set(0)
                log.error("reload refused, the old configuration stays", extra={"reason": str(err)})
                return str(err)
            except Exception as err:  # whatever a file brings about, what runs goes on
                self._metrics.reload_successful.set(0)
                log.exception("reload failed, the old configuration stays")
                return f"unexpected error: {type(err).__name__} (the log has more)"
            self._discoveries.begin(config.scrape_configs, PATIENCE)
            self._running = self._go_over(old, parts)
            self._running.begin()
            self._side.entrance.admit(config)
            self._accepted(config)
            log.info("reloaded")
            return ""

    def clock_was_set(self, by: Duration) -> None:
        """Somebody set the clock by so much: what runs moves along."""
        with self._lock:
            if self._running is not None:
                log.warning("the clock was set", extra={"by_seconds": to_seconds(by)})
                self._metrics.clock_steps.inc()
                self._running.move(by, self._stopping)

    def stop(self) -> None:
        """End what runs, see Running.end; what waits in the lanes gets three seconds."""
        self._stopping.set()
        with self._lock:
            running, self._running = self._running, None
            if running is not None:
                running.end()
            self._discoveries.keep_only(())
        log.info("stopped")

    def _open_state(self, config: Config) -> State:
        try:
            return State.open(config.storage.path, self._clock, self._metrics, self._role.fence)
        except (StateError, OSError) as err:
            raise StartError(str(err)) from err

    def _listen(self, config: Config) -> Server:
        listen = config.web.listen
        try:
            return self._side.listen(config)
        # waitress makes a ValueError of a name that is not known.
        except (OSError, ValueError) as err:
            why = (isinstance(err, OSError) and err.strerror) or str(err)
            raise StartError(f"cannot listen on {listen}: {why} (set --listen or web.listen)") from err

    def _lasting(self, parts: Parts, state: State, server: Server) -> Lasting:
        registry, clock, workspace = self._registry, self._clock, self._builder.workspace
        workspace.begin(state.incidents, state.journal)
        suppressed, workers = self._metrics.suppressed, Workers()
        inbox = Inbox(state.received, state.journal, state.silences, clock)
        liaison = Liaison(inbox, workspace.incidents, state.silences, workers, clock)
        told = workspace.incidents, state.silences, state.journal
        return Lasting(
            state=state,
            server=server,
            dispatching=Dispatching(parts.config, parts.integrations, state.log, state.silences, suppressed),
            workers=workers,
            workspace=workspace,
            interaction=Interaction(*told, clock, registry, liaison.decided),
            token=self._side.entrance.token,
            inbox=inbox,
            liaison=liaison,
            remoting=Remoting(state.history, state.folder, clock, RemoteWriteMetrics(registry)),
            forwarding=Forwarding(registry),
            supervisor=self._supervisor,
        )

    def _assemble(self, parts: Parts, lasting: Lasting) -> Running:
        own = OwnSeries(self._registry, self._side.refresh, str(parts.config.web.listen))
        told = partial(report, self._metrics)
        dispatcher = lasting.dispatching.dispatcher
        lasting.state.history.keep = parts.keep
        lasting.state.journal.retention = parts.keep.retention
        return Running(lasting, parts, self._builder.assemble(parts, dispatcher, told, lasting.state.journal, own))

    def _go_over(self, old: Running, parts: Parts) -> Running:
        """Stop `old` and return what goes on in its place, ready to begin."""
        old.timetable.stop()
        now, dispatching = self._clock.now(), old.lasting.dispatching
        orphans = parts.manager.take_over(old.parts.manager, now)
        dispatching.dispatcher.insert(orphans, now)
        dispatching.reconfigure(parts.config, parts.integrations, now)
        new = self._assemble(parts, old.lasting)
        new.take_over(old, now)
        for job, mechanism in self._discoveries.keep_only(parts.config.scrape_configs):
            self._metrics.forget_discovery(job, mechanism)
        return new

    def _targets_changed(self) -> None:
        running = self._running
        if running is not None:
            running.timetable.targets_changed()

    def _looked_for_targets(self, job: str, mechanism: str, errors: Sequence[DiscoveryError]) -> None:
        self._metrics.count_refresh(job, mechanism, [error.reason.value for error in errors])

    def _accepted(self, config: Config) -> None:
        for warning in config.warnings:
            log.warning("configuration", extra={"warning": str(warning)})
        self._metrics.reload_successful.set(1)
        self._metrics.reload_time.set(to_seconds(self._clock.now()))


def _registry() -> CollectorRegistry:
    # A process-wide switch of the library: a series of creation times for each counter tells nobody anything.
    disable_created_metrics()
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    return registry


def refuse_what_needs_a_restart(old: Config, new: Config) -> None:
    """Raise StartError when the new configuration has what a daemon that runs cannot go over to."""
    if old.ha != new.ha:
        raise StartError("ha cannot change while the daemon runs: restart it")
    if (old.prometheus is None) != (new.prometheus is None):
        raise StartError("mode cannot change while the daemon runs: restart it")
    if old.storage.path != new.storage.path:
        raise StartError("storage.path cannot change while the daemon runs: restart it")
    if old.web.listen != new.web.listen:
        raise StartError("web.listen cannot change while the daemon runs: restart it")
    if old.web_file.tls_server_config != new.web_file.tls_server_config:
        raise StartError("tls_server_config cannot change while the daemon runs: restart it (renewed files are seen)")
