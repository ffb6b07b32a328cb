"""The faults and shortcomings of rule files, each with its place."""

from collections.abc import Iterable, Iterator

from monitor.rulebook.lint.faults import faults
from monitor.rulebook.lint.style import shortcomings
from monitor.rules.spec import AlertingRule, Rule, RuleGroup
from monitor.yamldoc.mistake import Mistake, Place, shown


def complaints(rule: Rule) -> list[str]:
    """Return all that is wrong with a rule, one sentence for each."""
    return [*faults(rule), *(shortcomings(rule) if isinstance(rule, AlertingRule) else ())]


def lint(groups: Iterable[RuleGroup]) -> Iterator[Mistake]:
    """Yield what is wrong with the rules of `groups`; what an alert only lacks is a warning."""
    for group in groups:
        for rule in group.rules:
            where = f"group {shown(group.name)}, {shown(rule.name)}"
            place = Place(rule.line, 1)
            yield from (Mistake(group.file, place, where, what) for what in faults(rule))
            if isinstance(rule, AlertingRule):
                yield from (Mistake(group.file, place, where, what, warning=True) for what in shortcomings(rule))
