"""A group: rules that are evaluated together, in order, at the same instant."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.rules.alerting import AlertState, absent
from monitor.rules.alerting_rule import AlertingRuleRun
from monitor.rules.context import Context
from monitor.rules.errors import RuleError
from monitor.rules.recording_rule import RecordingRuleRun
from monitor.rules.spec import AlertingRule, RuleGroup

log = logging.getLogger(__name__)

RuleRun = AlertingRuleRun | RecordingRuleRun
# What is longer is no slow evaluation: the machine slept, or the process was stopped.
LONGEST_PAUSE: Duration = MINUTE

Owner = tuple[str, str, int]
Stopwatch = Callable[[], float]


class Health(StrEnum):
    UNKNOWN = "unknown"
    OK = "ok"
    ERR = "err"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the last evaluation of a rule went. `seconds` is how long it took."""

    health: Health = Health.UNKNOWN
    error: str = ""
    at: Instant = 0
    seconds: float = 0.0


@dataclass
class Group:
    """
    Evaluates its rules when told to; knows no timer.

    reference: Prometheus 3, rules/group.go. `interval` is the group's own or the default one, in milliseconds.
    """

    spec: RuleGroup
    interval: Duration
    query_offset: Duration
    rules: list[RuleRun]
    verdicts: list[Verdict] = field(default_factory=list)
    last_evaluation: Instant = 0
    evaluation_seconds: float = 0.0

    @classmethod
    def of(cls, spec: RuleGroup, interval: Duration, query_offset: Duration = 0) -> "Group":
        """Return a fresh group; `interval` and `query_offset` are the defaults for what `spec` leaves out."""
        runs: list[RuleRun] = [
            AlertingRuleRun(rule, spec.limit) if isinstance(rule, AlertingRule) else RecordingRuleRun(rule, spec.limit)
            for rule in spec.rules
        ]
        offset = query_offset if spec.query_offset is None else spec.query_offset
        return cls(spec, spec.interval or interval, offset, runs, [Verdict()] * len(runs))

    @property
    def key(self) -> tuple[str, str]:
        return (self.spec.file, self.spec.name)

    @property
    def owners(self) -> list[Owner]:
        """Each rule is a writer of its own, so that the rules behind it see its samples at this very instant."""
        return [(*self.key, number) for number in range(len(self.rules))]

    @property
    def alerting(self) -> list[AlertingRuleRun]:
        return [run for run in self.rules if isinstance(run, AlertingRuleRun)]

    def is_due(self, slot: Instant) -> bool:
        return slot % self.interval == 0

    def evaluate(self, context: Context, at: Instant, stopwatch: Stopwatch) -> list[Alert]:
        """
        Evaluate every rule at `at` and return the alerts that dispatch must hear of.

        A rule that fails keeps its alerts as they are, tells nobody of them, and does not stop the others.
        """
        began = stopwatch()
        unseen = at - self.last_evaluation - self.interval
        if self.last_evaluation and unseen > max(LONGEST_PAUSE, 3 * self.interval):
            for alerting in self.alerting:
                alerting.bridge(unseen, at)
        alerts: list[Alert] = []
        for number, rule in enumerate(self.rules):
            started = stopwatch()
            error = self._evaluate_rule(number, rule, context, at)
            health = Health.ERR if error else Health.OK
            self.verdicts[number] = Verdict(health, error, at, stopwatch() - started)
            if not error and isinstance(rule, AlertingRuleRun):
                alerts += rule.alerts(context)
        self.last_evaluation, self.evaluation_seconds = at, stopwatch() - began
        return alerts

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        for rule in self.alerting:
            rule.shift(by)
        self.verdicts = [replace(verdict, at=verdict.at + by) if verdict.at else verdict for verdict in self.verdicts]
        self.last_evaluation += by if self.last_evaluation else 0

    def take_over(self, old: "Group") -> None:
        """
        Go on with the alerts of `old`, rule by rule: by name and labels, in order, whatever their expressions became.

        reference: Prometheus 3, rules/group.go (CopyState).
        """
        waiting = list(old.alerting)
        for rule in self.alerting:
            match = next(
                (o for o in waiting if (o.spec.name, o.spec.labels) == (rule.spec.name, rule.spec.labels)), None
            )
            if match is not None:
                waiting.remove(match)
                rule.active = dict(match.active)

    def left_behind(self, new: "Group | None", context: Context, at: Instant) -> list[Alert]:
        """Return, as resolved at `at`, the firing alerts of this group that `new` no longer has a rule for."""
        kept = {labels for rule in new.alerting for labels in rule.active} if new is not None else set()
        orphans: list[Alert] = []
        for rule in self.alerting:
            rule.active = {
                labels: over
                for labels, alert in rule.active.items()
                if labels not in kept
                and alert.state is AlertState.FIRING
                and (over := absent(alert, 0, at)) is not None
            }
            orphans += rule.alerts(context)
        return orphans

    def _evaluate_rule(self, number: int, rule: RuleRun, context: Context, at: Instant) -> str:
        query_at = at - self.query_offset
        try:
            samples = rule.evaluate(context, at, query_at)
        except RuleError as err:
            return str(err)
        except Exception as err:  # a defect of ours is that rule's health, and the other rules go on
            log.exception("rule failed unexpectedly", extra={"group": self.spec.name, "rule": rule.spec.name})
            return f"internal error: {type(err).__name__}"
        context.appender.append(self.owners[number], query_at, samples)
        return ""
