"""
Which rules read what other rules record: in which order they can be evaluated a whole day at a time.

In life all rules are evaluated at one instant after the other, in the order of the manager. Along a day each rule must
come after all those that it reads. It does not matter that one stands further up than what it reads: then it sees what
that one recorded until the instant before.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from monitor.expressions import expressions_of
from monitor.model.labels import METRIC_NAME
from monitor.promql import Plan, parse
from monitor.promql.plan import Selector
from monitor.rules.alerting_rule import ALERTS, ALERTS_FOR_STATE, AlertingRuleRun
from monitor.rules.group import Group, Owner, RuleRun
from monitor.rules.manager import Manager

_OF_ALERTS = (ALERTS, ALERTS_FOR_STATE)


class NoOrderError(Exception):
    """The rules can only be evaluated instant by instant; the message says why."""


@dataclass
class Member:
    """
    A rule in its place. `number` is its turn at an instant.

    `unseen` are the owners whose samples of an instant it does not see at that instant: their turn is later.
    """

    number: int
    group: Group
    owner: Owner
    run: RuleRun
    plan: Plan
    unseen: list[Owner] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.run.spec.name

    @property
    def alert(self) -> AlertingRuleRun | None:
        return self.run if isinstance(self.run, AlertingRuleRun) else None


def members(manager: Manager) -> list[Member]:
    """Return all rules by their turn: group by group, those of shorter intervals first."""
    groups = sorted(manager.in_turn, key=lambda group: group.interval)
    rules = [(group, owner, run) for group in groups for owner, run in zip(group.owners, group.rules, strict=True)]
    return [Member(number, *rule, parse(rule[2].spec.expr)) for number, rule in enumerate(rules)]


def in_order(rules: Sequence[Member]) -> list[Member]:
    """Return the rules, each behind all that it reads, and note what they do not see. Raises NoOrderError."""
    for rule in rules:
        _check(rule)
    recorders: defaultdict[str, list[Member]] = defaultdict(list)
    for rule in rules:
        if rule.alert is None:
            recorders[rule.name].append(rule)
    reads = {rule.number: _read_by(rule, recorders) for rule in rules}
    ordered: list[Member] = []
    done: set[int] = set()
    waiting = list(rules)
    while waiting:
        ready = [rule for rule in waiting if reads[rule.number] <= done]
        if not ready:
            raise NoOrderError(f"{_named(waiting)} read each other or themselves")
        # One at a time, so that the order of the files is kept wherever it can be.
        ordered.append(ready[0])
        done.add(ready[0].number)
        waiting.remove(ready[0])
    for rule in rules:
        rule.unseen = [
            other.owner for other in rules if other.number in reads[rule.number] and other.number > rule.number
        ]
    return ordered


def _check(rule: Member) -> None:
    """Raise NoOrderError for what cannot be evaluated along a day."""
    if rule.group.query_offset:
        raise NoOrderError(f"the group {rule.group.spec.name} has a query_offset")
    # The first is its own; the others are what its templates ask for.
    asked = [selector for expr in list(expressions_of(rule.run.spec))[1:] for selector in parse(expr).selectors]
    for selector in (*rule.plan.selectors, *asked):
        if selector.fixed:
            raise NoOrderError(f"{rule.name} reads a fixed time (@)")
        if selector.offset < 0:
            raise NoOrderError(f"{rule.name} reads ahead (offset below zero)")
        if any(_may_find(selector, {METRIC_NAME: name}) for name in _OF_ALERTS):
            raise NoOrderError(f"{rule.name} reads {ALERTS}")


def _read_by(rule: Member, recorders: Mapping[str, Sequence[Member]]) -> set[int]:
    """Return the numbers of the rules that record what this one may read; `recorders` are those by name."""
    found: set[int] = set()
    for selector in rule.plan.selectors:
        name = selector.name
        possible = recorders.get(name, ()) if name is not None else chain(*recorders.values())
        found.update(other.number for other in possible if _may_find(selector, _fixed_labels(other)))
    return found


def _fixed_labels(rule: Member) -> dict[str, str]:
    """Return the labels that everything has which the rule records: objectives differ by nothing else."""
    return {**rule.run.spec.labels.as_dict(), METRIC_NAME: rule.name}


def _may_find(selector: Selector, labels: Mapping[str, str]) -> bool:
    return all(one.name not in labels or one.matches(labels[one.name]) for one in selector.matchers)


def _named(rules: Sequence[Member]) -> str:
    return ", ".join(dict.fromkeys(rule.name for rule in rules))
