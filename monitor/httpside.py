"""What the HTTP side sees of the daemon, whatever configuration runs, and where it listens."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from monitor import __version__
from monitor.clock import Clock
from monitor.config.config import Config
from monitor.dispatch.alerting import Alerting
from monitor.entrance import Entrance, is_wide_open, tls_of
from monitor.inbox import Inbox
from monitor.longterm import LongEngine, LongTerm
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import EMPTY, Labels
from monitor.model.matcher import Matcher
from monitor.notify.secret import Secret
from monitor.notify.slack.handled import Handled
from monitor.postoffice import PostOffice
from monitor.probe.loop import ProbeLoop
from monitor.promql import Engine, Evaluator, Limits
from monitor.reporting import refresh
from monitor.role import Role
from monitor.running import Running
from monitor.sight.report import NOTHING_SEEN, Sight
from monitor.storage.window import Window
from monitor.web.alertmanager import AlertmanagerApi
from monitor.web.application import create_app
from monitor.web.capacity_gate import gate
from monitor.web.federate import Federation
from monitor.web.incidents import IncidentsApi
from monitor.web.information import Information
from monitor.web.outbox import OutboxApi
from monitor.web.queries import MOST_SAMPLES, Queries
from monitor.web.received import ReceivedApi, Refusal
from monitor.web.routes import Routes, Snapshot
from monitor.web.server import Server
from monitor.web.slack_actions import SlackActions

log = logging.getLogger(__name__)


class HttpSide:
    """
    Answers for the daemon. `running` returns what runs now, or None; `reload` loads the configuration again.

    One that stands by shows what it sees, and of what only the one on duty does, nothing.
    """

    def __init__(
        self,
        running: Callable[[], Running | None],
        reload: Callable[[], str],
        window: Window,
        clock: Clock,
        metrics: Metrics,
        role: Role,
    ) -> None:
        self.entrance = Entrance()
        self.reload = reload
        self._runs = running
        self._window = window
        self._clock = clock
        self._metrics = metrics
        self._role = role

    @property
    def _running(self) -> Running | None:
        return self._runs()

    def listen(self, config: Config) -> Server:
        """Return the server of a configuration, not started. Raises OSError or ValueError with why it cannot be."""
        listen, now = config.web.listen, self._clock.now()
        routes = Routes(self, self._metrics.registry, self.refresh)
        queries = Queries(self._window, self._engine, self._clock, past=self._past)
        information = Information(self, self._window, self._clock, __version__, now)
        alertmanager = AlertmanagerApi(self, self._clock, now, __version__, self._metrics.limited)
        actions = SlackActions(self, self._clock)
        self.entrance.admit(config)
        guarding = self.entrance.guarding(self._metrics.refused)
        gates = gate(self.probers, self._clock.now)
        for refusal in Refusal:
            # From 0 on, so that the first one is an increase.
            self._metrics.received_refused.labels(refusal.value)
        received = ReceivedApi(self, self._clock, self._metrics.count_received).blueprint()
        incidents = IncidentsApi(self, self._clock).blueprint()
        more = alertmanager.blueprint(), actions.blueprint(), OutboxApi(self).blueprint(), incidents, gates, received
        federation = Federation(self._window, self._clock, self._external_labels, queries.gate).blueprint()
        app = create_app(routes, queries, information, federation, *more, guarding=guarding)
        server = Server(app, listen.host, listen.port, tls_of(config.web_file), self._metrics.no_tls)
        if is_wide_open(config):
            log.warning("anybody who reaches the port may ask and silence", extra={"set": "web.config_file"})
        return server

    def snapshot(self) -> Snapshot:
        running = self._running
        if running is None:
            return Snapshot([], [], ready=False)
        pipeline = running.pipeline
        ready = running.timetable.first_round_done.is_set()
        groups, members = list(pipeline.manager.groups), pipeline.pool.members
        return Snapshot(groups, list(members.loops.values()), ready, self.sight(), members.found, self._role.stands_by)

    def alerting(self) -> Alerting | None:
        """Return what the HTTP side shows of dispatch, or None when nothing runs, or another one dispatches."""
        running = self._dispatching
        return running.lasting.dispatching.alerting(running.timetable.look) if running is not None else None

    def inbox(self) -> Inbox | None:
        """Return what takes the messages of Alertmanagers, or None when nothing runs, or another one takes them."""
        running = self._dispatching
        return running.lasting.inbox if running is not None and running.lasting.inbox.is_open else None

    def signing_secret(self) -> Secret | None:
        """Return what Slack signs its clicks with, or None when none are taken over HTTP."""
        running = self._running
        return running.lasting.interaction.signing_secret() if running is not None else None

    def take_in(self, payload: Any, envelope_id: str, written: Callable[[], None]) -> None:
        """Take a click, see Desk; while nothing runs it is nobody's."""
        running = self._running
        if running is not None:
            running.lasting.interaction.take_in(payload, envelope_id, written)

    def post_office(self) -> PostOffice | None:
        """Return the letters, or None when nothing runs, or another one has them."""
        running = self._dispatching
        if running is None:
            return None
        return PostOffice(running.pipeline.outbox, running.lasting.state.journal, self._clock)

    def handled(self, after: Instant, until: Instant) -> Sequence[Handled] | None:
        """Return what incidents told of, or None when nothing runs, or another one tells. Raises StateError."""
        running = self._dispatching
        return running.lasting.state.journal.handled(after, until) if running is not None else None

    @property
    def _dispatching(self) -> Running | None:
        return None if self._role.stands_by else self._running

    def _external_labels(self) -> Labels:
        running = self._running
        return running.parts.config.global_.external_labels if running is not None else EMPTY

    def probers(self) -> Sequence[ProbeLoop]:
        running = self._running
        return running.pipeline.probers if running is not None else ()

    def sight(self) -> Sight:
        running = self._running
        watch = running.pipeline.watch if running is not None else None
        return watch.sight if watch is not None else NOTHING_SEEN

    def _engine(self, lookback: Duration, seconds: float) -> Evaluator:
        """Return what evaluates one query of the HTTP API."""
        running = self._running
        step = running.parts.config.global_.evaluation_interval if running is not None else MINUTE
        limits = Limits(points=MOST_SAMPLES, seconds=seconds)
        engine = Engine(self._window, lookback=lookback, limits=limits, default_subquery_step=step)
        long_term = self._long_term()
        own = engine if long_term is None else LongEngine(engine, long_term, self._clock.now(), lookback)
        upstream = running.parts.upstream if running is not None else None
        return own if upstream is None else upstream.engine(own, seconds)

    def _long_term(self) -> LongTerm | None:
        running = self._running
        if running is None:
            return None
        history = running.lasting.state.history
        return LongTerm(self._window, history, history.since, history.begun)

    def _past(self, matchers: Sequence[Matcher], after: Instant, until: Instant) -> Sequence[Labels]:
        long_term = self._long_term()
        return () if long_term is None else long_term.labels(matchers, after, until)

    def refresh(self) -> None:
        """Let the metrics show what is so now."""
        running = self._running
        if running is not None:
            state = running.lasting.state
            refresh(self._metrics, running.pipeline, state.silences, state_written=state.journal.is_written)
