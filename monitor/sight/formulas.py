"""What rules need of the targets: their own needs, with those of the recording rules that they read put in."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from monitor.model.labels import BUCKET, METRIC_NAME
from monitor.model.matcher import Matcher
from monitor.promql import parse
from monitor.promql.needs import NEVER, NOTHING, AnyOf, Leaf, Need, all_of, any_of, needs
from monitor.rules.spec import RecordingRule, Rule, RuleGroup

# What the rules themselves write.
_ALERTS = ("ALERTS", "ALERTS_FOR_STATE")


class Formulas:
    """
    Turns expressions into needs of raw metrics.

    `given` names the metrics that are always there, such as the daemon's own.
    """

    def __init__(self, groups: Iterable[RuleGroup], given: Collection[str] = ()) -> None:
        self._given = frozenset((*given, *_ALERTS))
        self._records: defaultdict[str, list[RecordingRule]] = defaultdict(list)
        self._known: dict[str, Need] = {}
        for group in groups:
            for rule in group.rules:
                if isinstance(rule, RecordingRule):
                    self._records[rule.name].append(rule)

    def of(self, expr: str) -> Need:
        """Return what must be on a page for `expr` to find anything. Raises PromqlError."""
        return self._expanded(needs(parse(expr)), frozenset())

    def of_rule(self, rule: Rule) -> Need:
        """Return what a rule needs; of several that record the same series, one will do."""
        if not isinstance(rule, RecordingRule):
            return self.of(rule.expr)
        same = (one for one in self._records[rule.name] if one.labels == rule.labels)
        return any_of(self._recorded(one, frozenset()) for one in same)

    def _expanded(self, need: Need, within: frozenset[str]) -> Need:
        """Put the needs of recorded names in; one `within` whose own rule this stands finds nothing by itself."""
        if not isinstance(need, Leaf):
            parts = [self._expanded(part, within) for part in need.parts]
            return any_of(parts) if isinstance(need, AnyOf) else all_of(parts)
        name = need.name
        if name is None or (name not in self._records and name not in self._given):
            return need
        if name in self._given:
            return NOTHING
        if name in within:
            return NEVER
        writers = [rule for rule in self._records[name] if _may_write(rule, need.matchers)]
        if not writers:
            # Nothing that is recorded under this name has such labels: it is as good as not there.
            return need
        on_edges = tuple(matcher for matcher in need.matchers if matcher.name == BUCKET)
        return _with_edges(any_of(self._recorded(rule, within) for rule in writers), on_edges)

    def _recorded(self, rule: RecordingRule, within: frozenset[str]) -> Need:
        known = self._known.get(rule.expr)
        if known is None:
            known = self._expanded(needs(parse(rule.expr)), within | {rule.name})
            if not within:
                self._known[rule.expr] = known
        return known


def _with_edges(need: Need, on_edges: tuple[Matcher, ...]) -> Need:
    """Ask the buckets that a record is made of for the edges that the record is asked for."""
    if not on_edges:
        return need
    if isinstance(need, Leaf):
        is_bucket = need.name is not None and need.name.endswith("_bucket")
        return Leaf((*need.matchers, *on_edges)) if is_bucket else need
    parts = [_with_edges(part, on_edges) for part in need.parts]
    return any_of(parts) if isinstance(need, AnyOf) else all_of(parts)


def _may_write(rule: RecordingRule, matchers: Iterable[Matcher]) -> bool:
    """Say whether the labels that the rule gives to all its series are among those that are looked for."""
    fixed = dict(rule.labels)
    return all(
        matcher.matches(fixed[matcher.name])
        for matcher in matchers
        if matcher.name != METRIC_NAME and matcher.name in fixed
    )
