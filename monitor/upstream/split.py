"""
Which rules are asked of Prometheus, and which the daemon evaluates in its window all the same.

What reads nothing but the daemon's own series, or no series at all, needs no Prometheus: the daemon has them newer, and
an outage of Prometheus must not silence what tells of it. Every other recording rule is Prometheus' to evaluate.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from monitor.promql import PromqlError, parse
from monitor.rules.spec import AlertingRule, RecordingRule, Rule, RuleGroup

# Returns the expressions that a rule evaluates: its own, and those of its templates.
Expressions = Callable[[Rule], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Split:
    """
    `groups` are what the daemon evaluates, `local` the names of the series that only it has.

    `recorded` has for every name that Prometheus must record, because an alert reads it, the groups that record it.
    """

    groups: tuple[RuleGroup, ...]
    local: frozenset[str]
    recorded: dict[str, tuple[RuleGroup, ...]]

    def is_local(self, expr: str) -> bool:
        """Say whether an expression can be evaluated in the window."""
        return reads_only(expr, self.local)


def split(groups: Sequence[RuleGroup], own: Iterable[str], expressions: Expressions) -> Split:
    """Return who evaluates which of the rules; `own` are the names of the daemon's own series."""
    names = frozenset(own)
    local = _with_recorded(groups, names)
    kept = tuple(left for group in groups if (left := _kept(group, local)).rules)
    alerts = (rule for group in kept for rule in group.rules if isinstance(rule, AlertingRule))
    asked = [expr for rule in alerts for expr in expressions(rule) if not reads_only(expr, local)]
    read = {name for expr in asked for name in _names(expr)}
    return Split(kept, local, _recorded(groups, read - names))


def reads_only(expr: str, names: frozenset[str]) -> bool:
    """Say whether all that an expression reads is among `names`."""
    return all(name in names for name in _names(expr))


def _names(expr: str) -> list[str]:
    """Return the metric names that an expression reads, "" for one that it does not spell out."""
    try:
        return [selector.name or "" for selector in parse(expr).selectors]
    except PromqlError:
        return [""]


def _with_recorded(groups: Sequence[RuleGroup], own: frozenset[str]) -> frozenset[str]:
    """Return `own` and what is recorded of nothing else."""
    rules = [rule for group in groups for rule in group.rules if isinstance(rule, RecordingRule)]
    local = own | {rule.name for rule in rules}
    while True:
        foreign = {rule.name for rule in rules if not reads_only(rule.expr, local)}
        if not local & (foreign - own):
            return local
        local -= foreign - own


def _kept(group: RuleGroup, local: frozenset[str]) -> RuleGroup:
    rules = tuple(rule for rule in group.rules if isinstance(rule, AlertingRule) or rule.name in local)
    return replace(group, rules=rules)


def _recorded(groups: Sequence[RuleGroup], read: Iterable[str]) -> dict[str, tuple[RuleGroup, ...]]:
    by_name: dict[str, tuple[RuleGroup, ...]] = {}
    wanted = set(read)
    for group in groups:
        for name in dict.fromkeys(rule.name for rule in group.rules if isinstance(rule, RecordingRule)):
            if name in wanted:
                by_name[name] = (*by_name.get(name, ()), group)
    return by_name
