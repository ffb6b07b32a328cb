"""Which rule goes on where which rule of the old configuration stood."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence

from monitor.rules.alerting_rule import AlertingRuleRun
from monitor.rules.group import Group

Pair = tuple[AlertingRuleRun, AlertingRuleRun]
_Placed = tuple[Group, AlertingRuleRun]
_Identity = Callable[[Group, AlertingRuleRun], Hashable]


def successors(old: Iterable[Group], new: Iterable[Group]) -> tuple[list[Pair], list[_Placed]]:
    """
    Return the pairs of an old alerting rule and the new one that takes its place, and the old ones that have none.

    Two are the same rule when their names and labels are, whatever became of the expression, the `for` and the texts;
    where there are several, in their order. They are looked for in the group of the same file and name, and then
    elsewhere: Prometheus stops at the group, and an alert whose group is renamed waits for its `for` anew.

    reference: Prometheus 3, rules/group.go (CopyState).
    """
    waiting = [(group, rule) for group in old for rule in group.alerting]
    free = [(group, rule) for group in new for rule in group.alerting]
    near, waiting, free = _matched(waiting, free, lambda group, rule: (group.key, rule.spec.name, rule.spec.labels))
    far, waiting, _ = _matched(waiting, free, lambda _, rule: (rule.spec.name, rule.spec.labels))
    return near + far, waiting


def _matched(
    waiting: Sequence[_Placed], free: Sequence[_Placed], identity: _Identity
) -> tuple[list[Pair], list[_Placed], list[_Placed]]:
    """Return the pairs of equal identity, and what is left of both."""
    places: defaultdict[Hashable, deque[_Placed]] = defaultdict(deque)
    for one in waiting:
        places[identity(*one)].append(one)
    pairs: list[Pair] = []
    left: list[_Placed] = []
    for one in free:
        same = places[identity(*one)]
        if same:
            pairs.append((same.popleft()[1], one[1]))
        else:
            left.append(one)
    return pairs, [one for same in places.values() for one in same], left
