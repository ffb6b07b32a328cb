"""The daemon at work: what begins, goes over to another configuration, moves with the clock, and ends together."""

import contextlib
import logging
import threading
from dataclasses import dataclass, field

from monitor.beating import Beating
from monitor.build import Parts
from monitor.dispatching import Dispatching
from monitor.forwarding import Forwarding
from monitor.inbox import Inbox
from monitor.interaction import Interaction, Ways
from monitor.liaison import Liaison
from monitor.model.instant import DAY, SECOND, Duration, Instant, to_seconds
from monitor.notify.slack.workspace import Workspace
from monitor.pipeline import Pipeline
from monitor.remotewriting import Remoting
from monitor.reportjob import OwnWay, ReportJob
from monitor.schedule import newest_time
from monitor.stalled import Stalled
from monitor.state import State
from monitor.supervisor import Feeding, Supervisor
from monitor.timetable import Timetable
from monitor.web.server import Server
from monitor.workers import Workers

log = logging.getLogger(__name__)

# SIGTERM ends the daemon within five seconds: this much of them is for what still waits in the lanes.
PATIENCE_SECONDS = 2.5
# How much longer than its timeout a scrape may take: the look-up of a name has limits of its own.
GRACE: Duration = SECOND
# And so much for what Alertmanagers have yet to hear; they would take it for over by themselves.
FORWARD_SECONDS = 1.0
IDLE_SECONDS = 0.05
# A report of last week is worth reading so long after it was due.
MOST_LATE: Duration = DAY
CLOCK = "clock"
# Who listens on every interface is asked on the loopback.
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class Lasting:
    """What there is from the start of the daemon to its end, whatever configurations come and go."""

    state: State
    server: Server
    dispatching: Dispatching
    workers: Workers
    workspace: Workspace
    interaction: Interaction
    # What lets a child of the daemon in.
    token: str = field(repr=False)
    inbox: Inbox
    liaison: Liaison
    remoting: Remoting
    forwarding: Forwarding
    probing: Workers = field(default_factory=lambda: Workers(name="probe"))
    supervisor: Supervisor = field(default_factory=Supervisor)


class Running:
    """One configuration at work. A reload replaces it whole; a clock that is set replaces its timetable."""

    def __init__(self, lasting: Lasting, parts: Parts, pipeline: Pipeline) -> None:
        self.lasting = lasting
        self.parts = parts
        self.pipeline = pipeline
        stalled = Stalled(pipeline.dispatcher, str(parts.config.web.listen))
        self._beating = Beating(parts.config.heartbeat, pipeline, lasting.workers, stalled, self._look)
        self._report = self._report_job()
        self.timetable = self._timetable()
        pipeline.metrics.ticks_failed.labels(CLOCK)

    def begin(self) -> None:
        self.pipeline.outbox.start(self.pipeline.clock.now)
        ways = Ways(self.pipeline.outbox, self.parts.integrations, self.lasting.dispatching.muting)
        self.lasting.interaction.begin(self.parts.config, ways)
        self.lasting.inbox.begin(self.parts.config, self.pipeline.outbox, self.parts.integrations)
        self.lasting.liaison.begin(self.parts.config, self.lasting.interaction.touched)
        self.lasting.forwarding.begin(self.parts.config)
        self.parts.manager.heard = self.lasting.forwarding.hear
        self.lasting.remoting.begin(self.parts.config)
        self.timetable.start()

    def take_over(self, old: "Running", now: Instant) -> None:
        """Go on with the letters of `old`, whose timetable has stopped, and end the series that only `old` wrote."""
        self.pipeline.outbox.take_over(old.pipeline.outbox)
        self.pipeline.pool.take_over(old.pipeline.pool, now)
        if self.pipeline.watch is not None:
            self.pipeline.watch.follow(self.pipeline.loops)
        if self.parts.upstream is not None and old.parts.upstream is not None:
            self.parts.upstream.take_over(old.parts.upstream)
            if self.parts.upstream.is_another(old.parts.upstream):
                self.parts.manager.distrust_absence(now)
            old.parts.upstream.stop()
        appender = self.parts.appender
        appender.retire(appender.owners - self.parts.manager.owners, now)

    def move(self, by: Duration, stopping: threading.Event) -> None:
        """
        Go on as if the clock had always been what it is now: samples, alerts, groups and letters move along.

        So a step in either direction makes no hole, no burst, and no alert that nobody deserves. Scrapes that are
        under way are waited for, unless `stopping` is set.
        """
        self.timetable.stop()
        self._wait_for_scrapes(stopping)
        try:
            self.pipeline.shift(by)
            self.lasting.state.history.shift(by)
            self.lasting.workspace.shift(by)
            self.lasting.inbox.shift(by)
            self.lasting.liaison.begin_anew()
            self.lasting.remoting.shift(by)
            self.lasting.forwarding.shift(by)
        except Exception:  # a tick like the others: whatever this is, a daemon that stands still would be worse
            log.exception("not everything has moved with the clock")
            self.pipeline.metrics.ticks_failed.labels(CLOCK).inc()
        self.timetable = self._timetable()
        self.timetable.start()

    def catch_up(self) -> None:
        """Make up for what fell into the time before this life, when nothing ran; to be called once, at the start."""
        report, since, now = self._report, self.lasting.state.down_at, self.pipeline.clock.now()
        if report is None or since is None:
            return
        missed = newest_time(report.schedule, report.timezone, max(since, now - MOST_LATE), now)
        if missed is not None:
            log.info("a report is made up for: it was due while nothing ran")
            report.tick(missed)

    def end(self) -> None:
        """Stop in the order of the data: no new scrapes, then no evaluations, then the lanes, then the rest."""
        lasting = self.lasting
        with contextlib.ExitStack() as stack:
            stack.callback(lasting.state.close)
            stack.callback(lasting.server.stop)
            stack.callback(self._empty_lanes)
            stack.callback(lasting.forwarding.stop, FORWARD_SECONDS)
            stack.callback(lasting.workspace.stop)
            stack.callback(self._save_window)
            stack.callback(self._close_connections)
            stack.callback(lasting.interaction.stop)
            stack.callback(lasting.remoting.stop)
            stack.callback(lasting.workers.stop)
            if self._report is not None:
                stack.callback(self._report.stop)
            stack.callback(lasting.probing.stop)
            stack.callback(self.timetable.stop)
            if self.parts.upstream is not None:
                # First: the timetable waits for an evaluation under way, which would wait for Prometheus.
                stack.callback(self.parts.upstream.stop)

    def _timetable(self) -> Timetable:
        lasting = self.lasting
        beating, escalating = self._beating, lasting.interaction
        timetable = Timetable(self.pipeline, lasting.workers, self._save_window, beating, escalating, lasting.probing)
        timetable.also(lasting.inbox)
        timetable.also(lasting.liaison)
        if self._report is not None:
            timetable.add(self._report)
        if lasting.supervisor.watchdog:
            timetable.watch(Feeding(lasting.supervisor, self._beating.goes_on))
        return timetable

    def _report_job(self) -> ReportJob | None:
        config, lasting = self.parts.config, self.lasting
        if config.report is None:
            return None
        listen = config.web.listen
        own = listen._replace(host=ANYWHERE.get(listen.host, listen.host), port=lasting.server.port)
        count = self.pipeline.metrics.count_report
        way = OwnWay(f"http://{own}", lasting.token, str(lasting.server.inner or ""))
        return ReportJob(config, config.report, way, lasting.workspace, lasting.workers, count)

    def _look(self) -> None:
        # Of the timetable that runs now: a clock that is set replaces it.
        self.timetable.look()

    def _save_window(self) -> None:
        self.lasting.state.save_window(self.pipeline.window, self.pipeline.clock.now())

    def _close_connections(self) -> None:
        for loop in self.pipeline.loops:
            loop.close()

    def _wait_for_scrapes(self, stopping: threading.Event) -> None:
        # A row that is written after its block has moved would stand in the future, and refuse all that follow.
        longest = max((loop.options.scrape_timeout for loop in self.pipeline.loops), default=0) + GRACE
        for _ in range(round(to_seconds(longest) / IDLE_SECONDS)):
            if self.lasting.workers.is_idle():
                return
            stopping.wait(IDLE_SECONDS)

    def _empty_lanes(self) -> None:
        outbox = self.pipeline.outbox
        if not outbox.stop(PATIENCE_SECONDS):
            log.warning("notifications left behind", extra={"waiting": sum(outbox.waiting().values())})
