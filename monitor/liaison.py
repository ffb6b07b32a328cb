"""
What we tell a real Alertmanager of the groups that it has told us of, and what we ask it about them.

A silence from Slack counts here at once and is set there as well, so that whoever else it tells is spared too. And what
it no longer has, although it never said that it is over, is over: it was restarted, or sends no resolved messages, or
the end fell into a silence.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from monitor.clock import Clock
from monitor.config.alerting import ReceivedConfig
from monitor.config.config import Config
from monitor.dispatch.notification import NotifyError
from monitor.dispatch.received import Received, is_named, is_received
from monitor.dispatch.silence import Silence, Silences
from monitor.inbox import Inbox
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.notify.interactive.decide import Outcome, Verdict
from monitor.notify.slack.escape import literal
from monitor.notify.slack.incident import Incident, Reply, owing
from monitor.notify.slack.incidents import Incidents
from monitor.notify.their_alertmanager import TheirAlertmanager
from monitor.notify.transport import is_web_address
from monitor.workers import Workers

log = logging.getLogger(__name__)

LOOK_EVERY: Duration = MINUTE
# An Alertmanager that was restarted knows nothing until its Prometheus has sent everything again.
ABSENT_FOR: Duration = 5 * MINUTE
_LONGEST_REASON = 200
# What would make of the paths of an API something else.
_MORE = frozenset("?#@")


class Liaison:
    """
    Everything is done by `workers`, and nobody waits for it. `touched` hears of an incident that owes something.

    It is asked and told where the configuration says (`alertmanager_url`), or where whoever posts has shown who it is.
    """

    def __init__(self, inbox: Inbox, incidents: Incidents, silences: Silences, workers: Workers, clock: Clock) -> None:
        self._inbox = inbox
        self._incidents = incidents
        self._silences = silences
        self._workers = workers
        self._clock = clock
        self._config = ReceivedConfig()
        self._touched: Callable[[Incident], None] = lambda _: None
        # Since when an alert of a group has not been there.
        self._absent: dict[tuple[str, str], dict[Labels, Instant]] = {}

    @property
    def interval(self) -> Duration:
        """How often `tick` is to be called."""
        return LOOK_EVERY

    def begin(self, config: Config, touched: Callable[[Incident], None]) -> None:
        """Go over to a configuration whose lanes are at work."""
        self._config, self._touched = config.alerting.webhook, touched

    def begin_anew(self) -> None:
        """The clock was set: nothing has been absent so far."""
        self._absent = {}

    def tick(self, now: Instant) -> None:
        """Ask what is still there."""
        self._workers.submit("alertmanagers", partial(self._guarded, partial(self._look, now)))

    def decided(self, verdict: Verdict) -> None:
        """Hear of a click that changed something."""
        incident = verdict.incident
        about = [one for one in (incident, *verdict.members) if one is not None and is_received(one.group_key)]
        key = about[0].group_key if about else ""
        theirs = self._theirs(key, self._external_url(key)) if key and incident is not None else None
        if theirs is None or incident is None or verdict.outcome not in (Outcome.SILENCED, Outcome.UNSILENCED):
            return
        silence = self._silences.get(incident.silence_id) if verdict.outcome is Outcome.SILENCED else None
        job = partial(self._carry_over, theirs, incident, silence, self._silences.get(verdict.expires))
        self._workers.submit(("alertmanager", incident.key, verdict.expires, incident.silence_id), job)

    def _carry_over(
        self, theirs: TheirAlertmanager, incident: Incident, silence: Silence | None, ends: Silence | None
    ) -> None:
        done = "Also silenced" if silence is not None else "No longer silenced"
        try:
            if silence is not None:
                theirs.silence(silence)
            if ends is not None:
                theirs.unsilence(ends)
            text = f"{done} in Alertmanager"
        except NotifyError as err:
            log.warning("an Alertmanager was not told of a silence: %s", err)
            reason = literal(str(err), _LONGEST_REASON)
            text = f"⚠ Alertmanager could not be told ({reason}): this counts for what is told here alone"
        except Exception:  # a job of a worker must not raise
            log.exception("a silence was not carried over")
            return
        about = incident.silence_id or (ends.id if ends is not None else "")
        reply = Reply(f"{incident.id}/{done}/{about}", text)
        self._touched(self._incidents.change(incident.key, lambda one: owing(one or incident, (reply,))))

    def _look(self, now: Instant) -> None:
        groups = self._inbox.groups()
        self._absent = {group.key: self._absent.get(group.key, {}) for group in groups}
        silent = set[str]()
        for group in groups:
            theirs = self._theirs(group.group_key, group.external_url)
            if theirs is None:
                continue
            there = self._there(theirs, group, silent)
            if there is None:
                # Who does not answer says nothing about its alerts.
                self._absent[group.key] = {}
                continue
            gone = self._gone(group, there, now)
            if gone:
                log.warning("an Alertmanager no longer has it", extra={"group": group.group_key, "alerts": len(gone)})
                self._inbox.end(group, gone)
            elif group.entry.firing & there:
                self._inbox.seen(group)

    def _there(self, theirs: TheirAlertmanager, group: Received, silent: set[str]) -> frozenset[Labels] | None:
        """Return what it has of the group, None when it does not answer; who is `silent` is not asked once more."""
        if theirs.url in silent:
            return None
        try:
            return theirs.firing(group.group_labels)
        except NotifyError as err:
            log.debug("an Alertmanager was not asked: %s", err)
            silent.add(theirs.url)
            return None

    def _gone(self, group: Received, there: frozenset[Labels], now: Instant) -> frozenset[Labels]:
        """Return what fires as far as we know, and has not been there for long enough."""
        before = self._absent[group.key]
        absent = {labels: before.get(labels, now) for labels in group.entry.firing - there}
        self._absent[group.key] = absent
        return frozenset(labels for labels, since in absent.items() if now - since >= ABSENT_FOR)

    def _external_url(self, group_key: str) -> str:
        urls: Sequence[str] = [group.external_url for group in self._inbox.groups() if group.group_key == group_key]
        return urls[0] if urls else ""

    def _theirs(self, group_key: str, external_url: str) -> TheirAlertmanager | None:
        """Return the Alertmanager that told of the group, None when nobody knows where it is."""
        config = self._config
        options = config.http_config.options(config.timeout)
        if config.alertmanager_url and not is_named(group_key):
            return TheirAlertmanager(config.alertmanager_url, options)
        # Where it says that it is reached is believed of those alone that have shown who they are; and whoever says it
        # may name any host: no credentials are shown there.
        if config.shown is None or not is_web_address(external_url) or _MORE & set(external_url):
            return None
        return TheirAlertmanager(external_url, replace(options, authorization=None))

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:  # a job of a worker must not raise
            log.exception("looking what Alertmanagers still have failed")
