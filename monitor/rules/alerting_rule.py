"""An alerting rule at work: from the elements its expression finds to the states of its alerts."""

import logging
from collections.abc import Iterable, Mapping
from urllib.parse import quote_plus

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.model.labels import ALERT_NAME, METRIC_NAME, Labels
from monitor.rules.alerting import ActiveAlert, AlertState, Found, absent, seen
from monitor.rules.context import Context, Vector
from monitor.rules.errors import PartialAnswerError, RuleError, UnansweredError
from monitor.rules.restore import restored
from monitor.rules.spec import AlertingRule, overlay
from monitor.template import Template, TemplateData, parse

log = logging.getLogger(__name__)

ALERTS = "ALERTS"
ALERTS_FOR_STATE = "ALERTS_FOR_STATE"
ALERT_STATE = "alertstate"
# How long an alert that is not found proves nothing after a time without samples: the longest rate of the rules.
BLIND: Duration = 5 * MINUTE
# What is longer is no slow evaluation: the machine slept, the process was stopped, or nobody answered.
LONGEST_PAUSE: Duration = MINUTE


class AlertingRuleRun:
    """
    One alerting rule and its alerts; the specification never changes, the alerts do.

    `trust_absence_from`: before that instant an alert that is not found stays as it is. After a restart the window may
    be too short for the expression, which then finds nothing although nothing is well. `doubt` is what was missing from
    the data at the last evaluation, "" when nothing was; `unanswered_since` is since when nobody answers.

    reference: Prometheus 3, rules/alerting.go (Eval).
    """

    def __init__(self, spec: AlertingRule, limit: int = 0) -> None:
        self.spec = spec
        self.active: dict[Labels, ActiveAlert] = {}
        self.trust_absence_from: Instant = 0
        self.doubt = ""
        self.unanswered_since: Instant | None = None
        self._limit = limit
        self._labels = _templates(spec.labels, spec.name)
        self._annotations = _templates(spec.annotations, spec.name)

    def evaluate(self, context: Context, at: Instant, query_at: Instant) -> Vector:
        """
        Query at `query_at`, move the alerts on to `at`, and return the ALERTS series of those that are active.

        Raises RuleError; then no alert has moved, but for one that exceeds the group's limit: that clears them all.
        """
        found = self._found(context, self._asked(context, at, query_at), at)
        after = self._advance(found, at)
        active = [alert for alert in after.values() if alert.state is not AlertState.INACTIVE]
        if 0 < self._limit < len(active):
            self.active = {}
            raise RuleError(f"exceeded limit of {self._limit} with {len(active)} alerts")
        _log_moves(self.active, after)
        self.active = after
        # Alerts that differ in a label `alertstate` only share their series.
        return list(dict(sample for alert in active for sample in self._series(alert)).items())

    def alerts(self, context: Context) -> list[Alert]:
        """Return the alerts that dispatch must hear of: those that fire, and those that resolved a short while ago."""
        url = f"{context.external_url.rstrip('/')}/graph?g0.expr={quote_plus(self.spec.expr)}&g0.tab=1"
        return [
            outgoing(alert, context.external_labels, url)
            for alert in self.active.values()
            if alert.fired_at is not None
        ]

    def may_have(self, labels: Labels) -> bool:
        """Say whether an alert with these labels can be this rule's: they hold what the rule gives to all of them."""
        fixed = [(name, value) for name, value in self.spec.labels if "{{" not in value]
        return all(labels.value(name) == value for name, value in fixed if name != ALERT_NAME)

    def restore(self, alerts: Iterable[ActiveAlert], down_at: Instant, now: Instant) -> None:
        """Go on with the alerts of an earlier life, which ended at `down_at`."""
        kept = ((old.labels, restored(old, self.spec.for_, down_at, now)) for old in alerts)
        self.active = {labels: alert for labels, alert in kept if alert is not None}

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: the alerts move along."""
        self.active = {labels: alert.shifted(by) for labels, alert in self.active.items()}
        self.trust_absence_from += by
        if self.unanswered_since is not None:
            self.unanswered_since += by

    def bridge(self, unseen: Duration, now: Instant) -> None:
        """
        Nothing was evaluated for so long (the machine slept, say): what nobody saw does not count towards `for`.

        Prometheus counts it, and fires for a condition that it saw for a moment before and after.
        """
        self.active = {
            labels: alert.shifted(unseen) if alert.state is AlertState.PENDING else alert
            for labels, alert in self.active.items()
        }
        # The windows are empty now, so that most expressions find nothing although nothing is well.
        self.trust_absence_from = max(self.trust_absence_from, now + BLIND)

    def _asked(self, context: Context, at: Instant, query_at: Instant) -> Vector:
        """Return what the expression finds. Raises RuleError."""
        self.doubt = ""
        try:
            vector = context.query(self.spec.expr, query_at)
        except UnansweredError:
            if self.unanswered_since is None:
                self.unanswered_since = at
            raise
        except PartialAnswerError as err:
            # What is not found may stand in what is missing: it proves nothing.
            self.doubt, vector = str(err), err.found
        since, self.unanswered_since = self.unanswered_since, None
        if since is not None and at - since > LONGEST_PAUSE:
            self.bridge(at - since, at)
        return vector

    @property
    def state(self) -> AlertState:
        """The worst state of any alert of the rule."""
        states = {alert.state for alert in self.active.values()}
        for state in (AlertState.FIRING, AlertState.PENDING):
            if state in states:
                return state
        return AlertState.INACTIVE

    def _found(self, context: Context, vector: Vector, at: Instant) -> dict[Labels, Found]:
        """Return what each element says, by the identity of its alert."""
        found: dict[Labels, Found] = {}
        for labels, value in vector:
            data = TemplateData(
                labels=labels,
                value=value,
                external_labels=context.external_labels,
                external_url=context.external_url,
                query=lambda expr: context.query(expr, at),
                now=at,
            )
            identity = labels.without((METRIC_NAME,)).with_(_expand(self._labels, data))
            identity = identity.with_({ALERT_NAME: self.spec.name})
            if identity in found:
                raise RuleError(
                    f"vector contains metrics with the same labelset after applying alert labels: {identity}"
                )
            found[identity] = Found(identity, value, overlay({}, _expand(self._annotations, data)))
        return found

    def _advance(self, found: Mapping[Labels, Found], at: Instant) -> dict[Labels, ActiveAlert]:
        gone = {
            labels: left
            for labels, old in self.active.items()
            if labels not in found and (left := self._absent(old, at)) is not None
        }
        there = {labels: seen(self.active.get(labels), one, self.spec.for_, at) for labels, one in found.items()}
        return gone | there

    def _series(self, alert: ActiveAlert) -> list[tuple[Labels, float]]:
        """
        Return the two series that Prometheus writes of an active alert.

        They lie over the rule's labels as the file has them: of a template that expands to nothing they show the text.
        """
        labels = self.spec.labels.with_(alert.labels)
        return [
            (labels.with_({METRIC_NAME: ALERTS, ALERT_STATE: alert.state.value}), 1.0),
            # Whole seconds, the rest cut off, as Prometheus writes it and reads it back.
            (labels.with_({METRIC_NAME: ALERTS_FOR_STATE}), float(alert.active_at // SECOND)),
        ]

    def _absent(self, old: ActiveAlert, at: Instant) -> ActiveAlert | None:
        if (self.doubt or at < self.trust_absence_from) and old.state is not AlertState.INACTIVE:
            return old
        return absent(old, self.spec.keep_firing_for, at)


def _log_moves(before: Mapping[Labels, ActiveAlert], after: Mapping[Labels, ActiveAlert]) -> None:
    for labels in before.keys() | after.keys():
        old = before[labels].state if labels in before else AlertState.INACTIVE
        new = after[labels].state if labels in after else AlertState.INACTIVE
        if old is not new:
            log.info("alert %s => %s", old.value, new.value, extra={"labels": str(labels)})


def _templates(labels: Labels, rule: str) -> list[tuple[str, Template]]:
    return [(name, parse(text, f"__alert_{rule}")) for name, text in labels]


def _expand(templates: list[tuple[str, Template]], data: TemplateData) -> dict[str, str]:
    return {name: template.expand(data) for name, template in templates}


def outgoing(alert: ActiveAlert, external: Labels, url: str) -> Alert:
    """Return an alert that has fired as dispatch hears of it; `url` leads to what found it."""
    return Alert(
        labels=external.with_(alert.labels),
        annotations=alert.annotations,
        starts_at=alert.fired_at if alert.fired_at is not None else alert.active_at,
        ends_at=alert.resolved_at,
        active_at=alert.active_at,
        value=alert.value,
        generator_url=url,
    )
