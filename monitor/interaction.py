"""What people do from Slack, from the daemon's start to its end, whatever configurations come and go."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import nan
from typing import Any

from prometheus_client import CollectorRegistry

from monitor.buttonmetrics import ButtonMetrics
from monitor.clock import Clock
from monitor.config.config import Config
from monitor.config.interactive import InteractiveConfig
from monitor.config.secret import held
from monitor.dispatch.dispatcher import Delivery, Flush, Integration
from monitor.dispatch.muting import Muting
from monitor.dispatch.notification import Reason
from monitor.dispatch.silence import Silences
from monitor.journal import Journal
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.notify.interactive.click import Click
from monitor.notify.interactive.decide import Outcome, Verdict
from monitor.notify.interactive.desk import Desk, Hooks
from monitor.notify.interactive.escalator import Escalator
from monitor.notify.interactive.nudge import nudge
from monitor.notify.interactive.quiet import Quiet
from monitor.notify.interactive.socket_mode import SocketMode
from monitor.notify.interactive.whisper import Whisper, Whisperer
from monitor.notify.outbox import Outbox
from monitor.notify.secret import Secret
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.incidents import Incidents
from monitor.notify.slack.regrouping import close_strays
from monitor.notify.slack.web_api import WebApi

LOOK_EVERY: Duration = 5 * SECOND


@dataclass(frozen=True, slots=True)
class Ways:
    """How a configuration reaches its receivers."""

    outbox: Outbox
    integrations: Mapping[str, Sequence[Integration]]
    muting: Muting


class Interaction:
    """Clicks, and what is done when none come. At rest, without a thread, until a configuration has buttons."""

    def __init__(
        self,
        incidents: Incidents,
        silences: Silences,
        journal: Journal,
        clock: Clock,
        registry: CollectorRegistry,
        decided: Callable[[Verdict], None] = lambda _: None,
    ) -> None:
        self._incidents = incidents
        self._journal = journal
        self._clock = clock
        self._registry = registry
        self._metrics: ButtonMetrics | None = None
        hooks = Hooks(self.touched, self._tell, self._count, clock.now, decided)
        self._desk = Desk(incidents, silences, hooks)
        self._escalator = Escalator(incidents, silences, self.touched, self._pass_on)
        self._ways: Ways | None = None
        self._config: Config | None = None
        self._signing: Secret | None = None
        self._socket: SocketMode | None = None
        self._socket_identity: tuple[Any, ...] = (None, None, "")
        self._whisperer: Whisperer | None = None

    @property
    def interval(self) -> Duration:
        """How often `tick` is to be called: more often where somebody is soon to be rung for."""
        escalation = self._escalator.escalation
        return LOOK_EVERY if escalation is None or escalation.after >= MINUTE else SECOND

    def begin(self, config: Config, ways: Ways) -> None:
        """Go over to a configuration whose lanes are at work; what is owed since an earlier life goes into them."""
        slack, self._ways, self._config = config.slack, ways, config
        self._signing = slack.signing
        self._escalator.escalation = slack.escalate.built() if slack.escalate is not None else None
        self._escalator.quiet = Quiet(config.route, ways.muting)
        self._desk.allowed_users = frozenset(slack.allowed_users)
        if slack.has_buttons and self._metrics is None:
            self._metrics = ButtonMetrics(self._registry, Outcome, self._socket_state)
            self._desk.start()
        self._replace_whisperer(_bots(config) if slack.has_buttons else {})
        self._replace_socket(slack, config.global_.slack_base_url)
        for incident in self._incidents.all():
            if incident.owed:
                self.touched(incident)
        self._close_strays(self._clock.now())

    def tick(self, now: Instant) -> None:
        """Do what is due where nobody answered, or where nobody will ever say that it is over."""
        self._close_strays(now)
        self._escalator.look(now)

    def signing_secret(self) -> Secret | None:
        """Return what Slack signs the clicks with that come over HTTP, or None when none are taken that way."""
        return self._signing

    def take_in(self, payload: Any, envelope_id: str, written: Callable[[], None]) -> None:
        """Take what came from Slack, see Desk."""
        self._desk.take_in(payload, envelope_id, written)

    def stop(self) -> None:
        """Take no click any more; those that came are decided."""
        if self._socket is not None:
            self._socket.stop()
        if self._whisperer is not None:
            self._whisperer.stop()
        self._desk.stop()

    def _replace_whisperer(self, bots: Mapping[str, WebApi]) -> None:
        old, self._whisperer = self._whisperer, None
        if old is not None:
            old.stop()
        if bots:
            self._whisperer = Whisperer(bots, self._whisper_failed)
            self._whisperer.start()

    def _replace_socket(self, slack: InteractiveConfig, base_url: str) -> None:
        """Keep the link as long as what it depends on is the same."""
        identity = (slack.app_token, slack.app_token_file, base_url)
        if identity == self._socket_identity:
            return
        self._socket_identity = identity
        old, self._socket = self._socket, None
        if old is not None:
            old.stop()
        token = slack.socket_token
        if token is not None:
            self._socket = SocketMode(token, base_url, self.take_in, self._socket_failed)
            self._socket.start()

    def _close_strays(self, now: Instant) -> None:
        if self._config is not None and self._ways is not None:
            receivers = told_with(self._config, self._ways.integrations)
            close_strays(self._incidents, self._config.route, receivers, now, self.touched)

    def touched(self, incident: Incident) -> None:
        ways = self._ways
        if ways is not None:
            ways.outbox.put(Delivery(incident.integration, nudge(incident.told)), self._clock.now())

    def _pass_on(self, incident: Incident) -> None:
        ways = self._ways
        if ways is None:
            return
        now = self._clock.now()
        to = ways.integrations.get(incident.passed_to, ())
        deliveries = tuple(passed_on(incident, to, incident.passed_to, now))
        self._journal.commit((), (), Flush(deliveries))
        for delivery in deliveries:
            ways.outbox.put(delivery, now)

    def _tell(self, click: Click, incident: Incident | None, text: str) -> None:
        if self._whisperer is not None:
            integration = incident.integration if incident is not None else ""
            self._whisperer.tell(Whisper(integration, click.channel, click.user_id, text))

    def _count(self, outcome: Outcome) -> None:
        if self._metrics is not None:
            self._metrics.clicks.labels(outcome.value).inc()

    def _whisper_failed(self, reason: str) -> None:
        if self._metrics is not None:
            self._metrics.answers_failed.labels(reason).inc()

    def _socket_failed(self, reason: str) -> None:
        if self._metrics is not None:
            self._metrics.socket_failures.labels(reason).inc()

    def _socket_state(self) -> tuple[float, float]:
        """Return whether the link stands, and the age of the last sign of life in seconds; NaN without Socket Mode."""
        if self._socket is None:
            return nan, nan
        age = self._socket.last_event_age
        return float(self._socket.is_connected), nan if age is None else age


def told_with(config: Config, integrations: Mapping[str, Sequence[Integration]]) -> dict[str, list[Integration]]:
    """Return for each receiver what may be told when it is: itself, its fallbacks, who hears of what nobody answers."""
    fallbacks = {receiver.name: receiver.fallback for receiver in config.receivers}
    escalated = config.slack.escalate.receiver if config.slack.escalate is not None else ""
    told: dict[str, list[Integration]] = {}
    for receiver in integrations:
        names = {receiver, escalated}
        for first in (receiver, escalated):
            name = first
            # No chain of fallbacks leads back to where it began.
            while name := fallbacks.get(name) or "":
                names.add(name)
        told[receiver] = [integration for name in sorted(names) for integration in integrations.get(name, ())]
    return told


def passed_on(incident: Incident, to: Sequence[Integration], receiver: str, now: Instant) -> Iterator[Delivery]:
    """Yield what the integrations of another receiver are told of an incident, or of its end."""
    told = incident.told
    if receiver == told.receiver:
        return
    for integration in to:
        alerts = told.alerts if integration.send_resolved else told.firing
        news = f"{incident.id}\n{incident.alarmed_at}\n{integration.name}\n{told.is_resolved}"
        if alerts:
            name = sha256(news.encode()).hexdigest()[:32]
            reason = Reason.ALL_RESOLVED if told.is_resolved else Reason.ESCALATED
            passed = replace(told, receiver=receiver, alerts=alerts, now=now, reason=reason, id=name)
            yield Delivery(integration.name, passed)


def _bots(config: Config) -> dict[str, WebApi]:
    """Return the bots by the names of their integrations."""
    return {
        f"{receiver.name}/slack[{number}]": WebApi(
            held(slack.bot_token, slack.bot_token_file), config.global_.slack_base_url
        )
        for receiver in config.receivers
        for number, slack in enumerate(receiver.slack_configs)
        if slack.bot_token is not None or slack.bot_token_file is not None
    }
