"""All groups: which are due, and how a reload carries their state over."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import ALERT_NAME, Labels
from monitor.rules.alerting import ActiveAlert, AlertState, absent
from monitor.rules.alerting_rule import BLIND, AlertingRuleRun, outgoing
from monitor.rules.context import Context
from monitor.rules.group import Group, Stopwatch
from monitor.rules.reload import Pair, successors
from monitor.rules.spec import RuleGroup
from monitor.rules.turn import by_turn

AlertKey = tuple[str, str, Labels]


@dataclass(frozen=True, slots=True)
class Kept:
    """An alert as it is kept beyond the life of the process, under the names of its group and rule."""

    group: str
    rule: str
    alert: ActiveAlert

    @property
    def key(self) -> AlertKey:
        return (self.group, self.rule, self.alert.labels)


class Manager:
    """
    Holds the groups in the order of their files; at one instant they are evaluated in the order of `in_turn`.

    Built whole from checked specifications, so that building it cannot stop the one at work.
    """

    def __init__(
        self,
        specs: Iterable[RuleGroup],
        context: Context,
        interval: Duration,
        stopwatch: Stopwatch,
        query_offset: Duration = 0,
    ) -> None:
        self.context = context
        seen: Counter[Hashable] = Counter()
        self.groups = [Group.of(spec, interval, query_offset, seen) for spec in specs]
        self.in_turn = [self.groups[place] for place in by_turn([group.spec for group in self.groups], context.reads)]
        self.left_behind: dict[AlertKey, Kept] = {}
        self._homes = list(_homes(self.groups))
        self._stopwatch = stopwatch
        self._kept: dict[AlertKey, tuple[object, ...]] = {}
        # Hears what each group came to, at which instant and with which interval, as soon as it is known.
        self.heard: Callable[[Sequence[Alert], Instant, Duration], None] = lambda _alerts, _at, _interval: None

    @property
    def intervals(self) -> set[Duration]:
        return {group.interval for group in self.groups}

    @property
    def owners(self) -> set[Hashable]:
        """Under which names the rules write."""
        return {owner for group in self.groups for owner in group.owners}

    def evaluate(self, slot: Instant, interval: Duration | None = None) -> list[Alert]:
        """Evaluate the groups of `interval` (None: all) at `slot`; return the alerts that dispatch must hear of."""
        due = [group for group in self.in_turn if interval in (None, group.interval)]
        self.context.ahead([(rule.spec.expr, slot - group.query_offset) for group in due for rule in group.rules])
        alerts: list[Alert] = []
        for group in due:
            found = group.evaluate(self.context, slot, self._stopwatch)
            self.heard(found, slot, group.interval)
            alerts += found
        over = self._told_as_over(slot)
        self.heard(over, slot, 0)
        return alerts + over

    def changes(self) -> tuple[list[Kept], list[AlertKey]]:
        """Return the alerts that are not what they were at the last call, and the keys of those that are gone."""
        now = {kept.key: kept for kept in self._all()}
        changed = [kept for key, kept in now.items() if self._kept.get(key) != kept.alert.dates]
        gone = [key for key in self._kept if key not in now]
        self._kept = {key: kept.alert.dates for key, kept in now.items()}
        return changed, gone

    def restore(self, kept: Iterable[Kept], down_at: Instant, now: Instant, trust_absence_from: Instant) -> list[Alert]:
        """
        Go on with what was kept when the daemon went down at `down_at`, wherever the rules stand now.

        An alert whose rule is gone has resolved. Until `trust_absence_from` one that is not found stays as it is.
        Returns the alerts that dispatch must hear of before anything is evaluated: one that had resolved, and of which
        nobody had heard that, may be pending again by then.
        """
        rows = list(kept)
        self._kept = {one.key: one.alert.dates for one in rows}
        found: defaultdict[int, list[ActiveAlert]] = defaultdict(list)
        for one in rows:
            home = _home_of(one, self._homes)
            if home is None:
                self._leave_behind(one, now)
            else:
                found[id(home.rule)].append(one.alert)
        for home in self._homes:
            home.rule.restore(found[id(home.rule)], down_at, now)
            home.rule.trust_absence_from = trust_absence_from
        return [alert for home in self._homes for alert in home.rule.alerts(self.context)]

    def distrust_absence(self, at: Instant) -> None:
        """From `at` on others answer, whose windows may be empty: for a while an alert that is not found stays."""
        for home in self._homes:
            home.rule.trust_absence_from = max(home.rule.trust_absence_from, at + BLIND)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        for group in self.groups:
            group.shift(by)
        self.left_behind = {key: replace(one, alert=one.alert.shifted(by)) for key, one in self.left_behind.items()}

    def take_over(self, old: "Manager", at: Instant) -> list[Alert]:
        """Go on where `old` stood; return, as resolved, the firing alerts that are no more: their rules are gone."""
        pairs, gone = successors(old.groups, self.groups)
        for before, rule in pairs:
            rule.active = dict(before.active)
            rule.trust_absence_from = before.trust_absence_from
            rule.unanswered_since = before.unanswered_since
        self._kept = old._kept  # noqa: SLF001 - the same class
        self.left_behind = dict(old.left_behind)
        without = {id(rule) for _, rule in gone}
        for home in old._homes:  # noqa: SLF001 - the same class
            if id(home.rule) in without:
                for alert in home.rule.active.values():
                    self._leave_behind(Kept(home.group, home.name, alert), at)
        return self._told_as_over(at) + self._renamed(old, pairs, at)

    def _leave_behind(self, one: Kept, at: Instant) -> None:
        """Its rule is gone: it resolves at `at`, if it has fired at all."""
        over = absent(one.alert, 0, at)
        if over is not None:
            self.left_behind[one.key] = replace(one, alert=over)

    def _told_as_over(self, at: Instant) -> list[Alert]:
        """Return the alerts whose rules are gone: as long as any resolved one is told, unless a rule finds it again."""
        if not self.left_behind:
            return []
        fires = {
            labels
            for home in self._homes
            for labels, alert in home.rule.active.items()
            if alert.state is AlertState.FIRING
        }
        self.left_behind = {
            key: one
            for key, one in self.left_behind.items()
            if one.alert.labels not in fires and absent(one.alert, 0, at) is not None
        }
        return [outgoing(one.alert, self.context.external_labels, "") for one in self.left_behind.values()]

    def _renamed(self, old: "Manager", pairs: Iterable[Pair], at: Instant) -> list[Alert]:
        """Return, as resolved at `at`, the firing alerts that have other external labels from now on."""
        before, after = old.context.external_labels, self.context.external_labels
        if before == after:
            return []
        return [
            outgoing(replace(alert, state=AlertState.INACTIVE, resolved_at=at), before, "")
            for _, rule in pairs
            for alert in rule.active.values()
            if alert.state is AlertState.FIRING and before.with_(alert.labels) != after.with_(alert.labels)
        ]

    def _all(self) -> Iterator[Kept]:
        yield from self.left_behind.values()
        for home in self._homes:
            for alert in home.rule.active.values():
                yield Kept(home.group, home.name, alert)


@dataclass(frozen=True, slots=True)
class _Home:
    """
    An alerting rule and the names under which its alerts are kept.

    `name` is the rule's; the second of the same name, in groups of the same name, has `#2` behind it, and so on.
    """

    group: str
    name: str
    rule: AlertingRuleRun


def _homes(groups: Iterable[Group]) -> Iterator[_Home]:
    seen: Counter[tuple[str, str]] = Counter()
    for group in groups:
        for rule in group.alerting:
            name = rule.spec.name
            seen[group.spec.name, name] += 1
            count = seen[group.spec.name, name]
            yield _Home(group.spec.name, name if count == 1 else f"{name}#{count}", rule)


def _home_of(one: Kept, homes: Iterable[_Home]) -> _Home | None:
    """Return the rule whose alert this can be: if it may be several's, the one that stands where its own stood."""
    possible = [
        home
        for home in homes
        if home.rule.spec.name == one.alert.labels.value(ALERT_NAME) and home.rule.may_have(one.alert.labels)
    ]
    return min(possible, key=lambda home: (home.group != one.group, home.name != one.rule), default=None)
