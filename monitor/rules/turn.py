"""Whose turn comes first at an instant: a group sees what those before it have recorded at that very instant."""

from collections.abc import Sequence

from monitor.rules.context import Reads
from monitor.rules.spec import RecordingRule, RuleGroup


def by_turn(groups: Sequence[RuleGroup], reads: Reads) -> list[int]:
    """
    Return the places of the groups by their turn: what records goes before what reads it.

    Otherwise the order of the files stands; so it does among groups that read each other.
    """
    needs = _needs(groups, reads)
    waiting, turns = list(range(len(groups))), list[int]()
    while waiting:
        free = (place for place in waiting if needs[place].isdisjoint(waiting))
        turns.append(next(free, waiting[0]))
        waiting.remove(turns[-1])
    return turns


def _needs(groups: Sequence[RuleGroup], reads: Reads) -> list[set[int]]:
    """Return for each group the places of the others that record what it reads."""
    recorders: dict[str, set[int]] = {}
    for place, group in enumerate(groups):
        for rule in group.rules:
            if isinstance(rule, RecordingRule):
                recorders.setdefault(rule.name, set()).add(place)
    return [
        {other for rule in group.rules for name in reads(rule.expr) for other in recorders.get(name, ())} - {place}
        for place, group in enumerate(groups)
    ]
