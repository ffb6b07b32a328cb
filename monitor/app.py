"""The life of the daemon: start, reload, stop."""

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

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
from monitor.dispatch.dispatcher import Dispatcher
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, Duration, to_seconds
from monitor.notify.lane import Attempt
from monitor.notify.outbox import Outbox
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.promql import Engine, Limits
from monitor.rules.alerting import AlertState
from monitor.state import State
from monitor.storage.db import StateError
from monitor.storage.window import Window
from monitor.timetable import Timetable
from monitor.web.alertmanager import Alerting, AlertmanagerApi
from monitor.web.application import create_app
from monitor.web.information import Information
from monitor.web.queries import MOST_POINTS, Queries
from monitor.web.routes import Routes, Snapshot
from monitor.web.server import Server
from monitor.yamldoc.mistake import DocumentError

log = logging.getLogger(__name__)

# SIGTERM ends the daemon within five seconds: this much of them is for what still waits in the lanes.
PATIENCE_SECONDS = 3.0
LOOK_SECONDS = 1.0
IDLE_SECONDS = 0.05


class StartError(Exception):
    """The daemon cannot start, or not with this configuration; the message is for its user."""


@dataclass(frozen=True)
class Running:
    """One configuration at work. A reload replaces it whole."""

    parts: Parts
    pipeline: Pipeline
    timetable: Timetable


class App:
    """
    The daemon. `load` returns the configuration anew each time; it raises DocumentError.

    What outlives a reload: the window, the dispatcher with its log, the metrics, the state file and the HTTP side.
    """

    def __init__(self, load: Callable[[], Config], clock: Clock) -> None:
        self._load = load
        self._clock = clock
        # A process-wide switch of the library: a series of creation times for each counter tells nobody anything.
        disable_created_metrics()
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        self._metrics = Metrics(self._registry, __version__)
        self._window = Window()
        self._metrics.watch_size(self._window.size)
        self._builder = Builder(clock, self._window, self._metrics)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._running: Running | None = None
        self._server: Server | None = None
        self._state: State | None = None
        self._dispatching: Dispatching | None = None

    def start(self) -> int:
        """Start everything and return the port of the HTTP side. Raises StartError, and then nothing runs."""
        try:
            config = self._load()
            parts = self._builder.build(config)
        except DocumentError as err:
            raise StartError(str(err)) from err
        try:
            self._state = State.open(config.storage.path, self._clock, self._metrics)
            self._server = self._listen(config)
        except (StateError, OSError) as err:
            raise StartError(str(err)) from err
        self._dispatching = Dispatching(config, parts.integrations, self._state.log, self._state.silences)
        self._running = self._assemble(parts, self._dispatching.dispatcher)
        self._state.restore(self._running.pipeline, self._clock.now())
        self._server.start()
        self._begin(self._running)
        threading.Thread(target=self._watch_clock, name="clock", daemon=True).start()
        self._accepted()
        log.info("started", extra={"version": __version__, "listen": f"{config.web.listen.host}:{self._server.port}"})
        return self._server.port

    def reload(self) -> str:
        """
        Load the configuration again and go over to it; returns what is wrong with it, or "".

        Everything that can fail comes before anything that stops the old one.
        """
        with self._lock:
            old = self._running
            if old is None:
                return "not running"
            try:
                parts = self._builder.build(self._load(), old.parts)
                _refuse_what_needs_a_restart(old.parts.config, parts.config)
            except (DocumentError, StartError) as err:
                self._metrics.reload_successful.set(0)
                log.error("reload refused, the old configuration stays", extra={"reason": str(err)})
                return str(err)
            self._replace(old, parts)
            self._accepted()
            log.info("reloaded")
            return ""

    def stop(self) -> None:
        """Stop in the order of the data: no new scrapes, then no evaluations, then the lanes, then the rest."""
        self._stopping.set()
        with self._lock, contextlib.ExitStack() as stack:
            running, self._running = self._running, None
            if self._state is not None:
                stack.callback(self._state.journal.close)
            if self._server is not None:
                stack.callback(self._server.stop)
            if running is not None:
                stack.callback(self._empty_lanes, running.pipeline.outbox)
                stack.callback(self._save_window)
                stack.callback(running.timetable.stop)
        log.info("stopped")

    def snapshot(self) -> Snapshot:
        running = self._running
        if running is None:
            return Snapshot([], [], ready=False)
        pipeline = running.pipeline
        return Snapshot(
            list(pipeline.manager.groups), list(pipeline.loops), running.timetable.first_round_done.is_set()
        )

    def alerting(self) -> Alerting | None:
        """Return what the HTTP side shows of dispatch, or None when nothing runs."""
        running = self._running
        if running is None or self._dispatching is None:
            return None
        return self._dispatching.alerting(running.timetable.look)

    def _assemble(self, parts: Parts, dispatcher: Dispatcher) -> Running:
        journal = self._state.journal if self._state is not None else None
        own = OwnSeries(self._registry, self._count_alerts, str(parts.config.web.listen))
        pipeline = self._builder.assemble(parts, dispatcher, self._report, journal, own)
        return Running(parts, pipeline, Timetable(pipeline, self._save_window))

    def _begin(self, running: Running) -> None:
        running.pipeline.outbox.start(self._clock.now)
        running.timetable.start()

    def _replace(self, old: Running, parts: Parts) -> None:
        now = self._clock.now()
        old.timetable.stop()
        dispatcher = old.pipeline.dispatcher
        orphans = parts.manager.take_over(old.parts.manager, now)
        dispatcher.insert(orphans, now)
        if self._dispatching is not None:
            self._dispatching.reconfigure(parts.config, parts.integrations, now)
        new = self._assemble(parts, dispatcher)
        new.pipeline.outbox.take_over(old.pipeline.outbox)
        for key, loop in old.parts.loops.items():
            if key not in parts.loops:
                loop.stop(now)
        parts.appender.retire(parts.appender.owners - parts.manager.owners, now)
        self._running = new
        self._begin(new)

    def _watch_clock(self) -> None:
        watch = ClockWatch(self._clock.now, boot_milliseconds)
        while not self._stopping.wait(LOOK_SECONDS):
            by = watch.stepped()
            if by:
                self.clock_was_set(by)

    def clock_was_set(self, by: Duration) -> None:
        """
        Go on as if the clock had always been what it is now: samples, alerts, groups and letters move along.

        So a step in either direction makes no hole, no burst, and no alert that nobody deserves.
        """
        with self._lock:
            old = self._running
            if old is None:
                return
            log.warning("the clock was set", extra={"by_seconds": to_seconds(by)})
            self._metrics.clock_steps.inc()
            old.timetable.stop()
            self._wait_for_scrapes(old.timetable)
            pipeline = old.pipeline
            for part in (self._window, pipeline.manager, pipeline.outbox):
                part.shift(by)
            flush = pipeline.dispatcher.shift(by)
            if self._state is not None:
                self._state.journal.commit(*pipeline.manager.changes(), flush)
            self._running = replace(old, timetable=Timetable(pipeline, self._save_window))
            self._running.timetable.start()

    def _wait_for_scrapes(self, timetable: Timetable) -> None:
        # A row that is written after its block has moved would stand in the future, and refuse all that follow.
        for _ in range(round(PATIENCE_SECONDS / IDLE_SECONDS)):
            if timetable.is_idle():
                return
            self._stopping.wait(IDLE_SECONDS)

    def _save_window(self) -> None:
        if self._state is not None:
            self._state.save_window(self._window, self._clock.now())

    def _listen(self, config: Config) -> Server:
        routes = Routes(self, self._registry, self._count_alerts)
        queries = Queries(self._window, self._engine, self._clock)
        information = Information(self, self._window, self._clock, __version__, self._clock.now())
        alertmanager = AlertmanagerApi(self, self._clock, self._clock.now(), __version__)
        app = create_app(routes, queries, information, alertmanager.blueprint())
        return Server(app, config.web.listen.host, config.web.listen.port)

    def _engine(self, lookback: Duration, seconds: float) -> Engine:
        """Return what evaluates one query of the HTTP API."""
        running = self._running
        step = running.parts.config.global_.evaluation_interval if running is not None else MINUTE
        limits = Limits(points=MOST_POINTS, seconds=seconds)
        return Engine(self._window, lookback=lookback, limits=limits, default_subquery_step=step)

    def _accepted(self) -> None:
        self._metrics.reload_successful.set(1)
        self._metrics.reload_time.set(to_seconds(self._clock.now()))

    def _count_alerts(self) -> None:
        """Bring the gauges that are computed up to date."""
        running = self._running
        if running is None:
            return
        states = [
            alert.state
            for group in running.pipeline.manager.groups
            for rule in group.alerting
            for alert in list(rule.active.values())
        ]
        for state in (AlertState.PENDING, AlertState.FIRING):
            self._metrics.alerts.labels(state.value).set(states.count(state))
        if self._state is not None:
            self._metrics.state_written.set(self._state.journal.is_written)
        self._metrics.notifications_waiting.set(sum(running.pipeline.outbox.waiting().values()))

    def _report(self, attempt: Attempt) -> None:
        delivery = attempt.delivery
        told = {
            "integration": delivery.integration,
            "group": delivery.notification.group_key,
            "reason": delivery.notification.reason.value,
        }
        self._metrics.notifications.labels(delivery.integration).inc()
        if attempt.error is None:
            log.info("notified", extra=told)
            return
        self._metrics.notifications_failed.labels(delivery.integration, attempt.error.reason).inc()
        # Once, not at every attempt: the counter has the rest.
        level = logging.ERROR if attempt.attempts == 1 else logging.DEBUG
        log.log(level, "not notified: %s", attempt.error, extra=told | {"attempts": attempt.attempts})

    @staticmethod
    def _empty_lanes(outbox: Outbox) -> None:
        if not outbox.stop(PATIENCE_SECONDS):
            log.warning("notifications left behind", extra={"waiting": sum(outbox.waiting().values())})


def _refuse_what_needs_a_restart(old: Config, new: Config) -> None:
    if old.storage.path != new.storage.path:
        raise StartError("storage.path cannot change while the daemon runs: restart it")
    if old.web.listen != new.web.listen:
        raise StartError("web.listen cannot change while the daemon runs: restart it")
