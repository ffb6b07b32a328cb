"""A group: rules that are evaluated together, in order, at the same instant."""

import logging
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.rules.alerting_rule import LONGEST_PAUSE, AlertingRuleRun
from monitor.rules.context import Context, Vector
from monitor.rules.errors import RuleError
from monitor.rules.recording_rule import RecordingRuleRun
from monitor.rules.spec import AlertingRule, Rule, RuleGroup

log = logging.getLogger(__name__)

RuleRun = AlertingRuleRun | RecordingRuleRun

# The kind, name and labels of a rule, and how many rules before it have the same.
Owner = tuple[str, str, str, int]
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

    `interval` is the group's own or the default one, in milliseconds. `owners` are the names under which the rules
    write: each is a writer of its own, so that the rules behind it see its samples at this very instant. They do not
    tell where a rule stands, so that its series go on wherever it is moved.

    reference: Prometheus 3, rules/group.go.
    """

    spec: RuleGroup
    interval: Duration
    query_offset: Duration
    rules: list[RuleRun]
    owners: list[Owner]
    verdicts: list[Verdict] = field(default_factory=list)
    last_evaluation: Instant = 0
    evaluation_seconds: float = 0.0

    @classmethod
    def of(cls, spec: RuleGroup, interval: Duration, query_offset: Duration, seen: "Counter[Hashable]") -> "Group":
        """
        Return a fresh group; `interval` and `query_offset` are the defaults for what `spec` leaves out.

        `seen` counts the rules of the groups before, for the names of their writers.
        """
        runs: list[RuleRun] = [
            AlertingRuleRun(rule, spec.limit) if isinstance(rule, AlertingRule) else RecordingRuleRun(rule, spec.limit)
            for rule in spec.rules
        ]
        offset = query_offset if spec.query_offset is None else spec.query_offset
        owners = [_owner(rule, seen) for rule in spec.rules]
        return cls(spec, spec.interval or interval, offset, runs, owners, [Verdict()] * len(runs))

    @property
    def key(self) -> tuple[str, str]:
        return (self.spec.file, self.spec.name)

    @property
    def alerting(self) -> list[AlertingRuleRun]:
        return [run for run in self.rules if isinstance(run, AlertingRuleRun)]

    def evaluate(self, context: Context, at: Instant, stopwatch: Stopwatch) -> list[Alert]:
        """
        Evaluate every rule at `at` and return the alerts that dispatch must hear of.

        A rule that fails keeps its alerts as they are, tells nobody of them, and does not stop the others. One whose
        samples contradict what another rule has written is not well either, nor is one that saw a part of the data,
        but their alerts count.
        """
        began = stopwatch()
        unseen = at - self.last_evaluation - self.interval
        if self.last_evaluation and unseen > max(LONGEST_PAUSE, 3 * self.interval):
            for alerting in self.alerting:
                alerting.bridge(unseen, at)
        alerts: list[Alert] = []
        for number, rule in enumerate(self.rules):
            started = stopwatch()
            samples, error = self._evaluate_rule(rule, context, at)
            if samples is not None:
                doubt = rule.doubt if isinstance(rule, AlertingRuleRun) else ""
                error = _write(context, self.owners[number], at - self.query_offset, samples) or doubt
            health = Health.ERR if error else Health.OK
            self.verdicts[number] = Verdict(health, error, at, stopwatch() - started)
            if samples is not None and isinstance(rule, AlertingRuleRun):
                alerts += rule.alerts(context)
        self.last_evaluation, self.evaluation_seconds = at, stopwatch() - began
        return alerts

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        for rule in self.alerting:
            rule.shift(by)
        self.verdicts = [replace(verdict, at=verdict.at + by) if verdict.at else verdict for verdict in self.verdicts]
        self.last_evaluation += by if self.last_evaluation else 0

    def _evaluate_rule(self, rule: RuleRun, context: Context, at: Instant) -> tuple[Vector | None, str]:
        """Return the samples, or None and what is wrong."""
        try:
            return rule.evaluate(context, at, at - self.query_offset), ""
        except RuleError as err:
            return None, str(err)
        except Exception as err:  # a defect of ours is that rule's health, and the other rules go on
            log.exception("rule failed unexpectedly", extra={"group": self.spec.name, "rule": rule.spec.name})
            return None, f"internal error: {type(err).__name__}"


def _write(context: Context, owner: Owner, at: Instant, samples: Vector) -> str:
    """Write the samples, and return what of them contradicts what is there."""
    try:
        context.appender.append(owner, at, samples)
    except RuleError as err:
        return str(err)
    return ""


def _owner(rule: Rule, seen: "Counter[Hashable]") -> Owner:
    kind = "alert" if isinstance(rule, AlertingRule) else "record"
    same = (kind, rule.name, str(rule.labels))
    seen[same] += 1
    return (*same, seen[same] - 1)
