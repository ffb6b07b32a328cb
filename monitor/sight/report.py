"""Which rules are blind on which targets."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from monitor.model.labels import Labels
from monitor.promql.needs import Leaf, Need, leaves
from monitor.rules.spec import Rule, RuleGroup
from monitor.sight.fleet import Fleet, View
from monitor.sight.formulas import Formulas
from monitor.sight.reason import Blind


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that finds nothing on one target; `number` is its place in the group, which stands in `file`."""

    target: Labels
    file: str
    group: str
    number: int
    rule: str
    blind: Blind


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything that is blind at one moment, what of it nothing explains, and how many vLLM servers there are."""

    findings: tuple[Finding, ...] = ()
    unexplained: tuple[Finding, ...] = ()
    servers: int = 0

    @classmethod
    def of(cls, findings: Iterable[Finding], servers: int) -> "Sight":
        found = tuple(findings)
        return cls(found, tuple(one for one in found if not one.blind.reason.explained), servers)


NOTHING_SEEN = Sight()


@dataclass(frozen=True, slots=True)
class _Asked:
    group: RuleGroup
    number: int
    rule: Rule
    need: Need

    def blind_on(self, target: Labels, blind: Blind) -> Finding:
        return Finding(target, self.group.file, self.group.name, self.number, self.rule.name, blind)


class Report:
    """What the rules of some groups need; `given` names metrics that are always there."""

    def __init__(self, groups: Sequence[RuleGroup], given: Collection[str] = ()) -> None:
        formulas = Formulas(groups, given)
        self._asked = [
            _Asked(group, number, rule, formulas.of_rule(rule))
            for group in groups
            for number, rule in enumerate(group.rules)
        ]
        self.leaves: frozenset[Leaf] = frozenset(leaf for asked in self._asked for leaf in leaves(asked.need))

    def findings(self, views: Iterable[View]) -> tuple[Finding, ...]:
        """Return every rule that finds nothing on a vLLM server, server by server."""
        every = tuple(views)
        fleet = Fleet(every)
        # Of a hundred replicas that were seen to be the same one is asked.
        known: dict[int, list[tuple[_Asked, Blind]]] = {}
        found = []
        for view in every:
            if not view.is_server:
                continue
            key = id(view.blind)
            if key not in known:
                known[key] = [(one, blind) for one in self._asked if (blind := fleet.blind(one.need, view)) is not None]
            found += [one.blind_on(view.target, blind) for one, blind in known[key]]
        return tuple(found)
