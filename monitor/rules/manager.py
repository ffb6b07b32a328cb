"""All groups: which are due, and how a reload carries their state over."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.rules.alerting import ActiveAlert
from monitor.rules.context import Context
from monitor.rules.group import Group, Stopwatch
from monitor.rules.spec import RuleGroup

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
    Holds the groups in the order of their files.

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
        self.groups = [Group.of(spec, interval, query_offset) for spec in specs]
        self._stopwatch = stopwatch
        self._kept: dict[AlertKey, tuple[object, ...]] = {}

    @property
    def intervals(self) -> set[Duration]:
        return {group.interval for group in self.groups}

    @property
    def owners(self) -> set[Hashable]:
        """Under which names the rules write."""
        return {owner for group in self.groups for owner in group.owners}

    def evaluate(self, slot: Instant, interval: Duration | None = None) -> list[Alert]:
        """Evaluate the groups of `interval` (None: all) at `slot`; return the alerts that dispatch must hear of."""
        return [
            alert
            for group in self.groups
            if interval in (None, group.interval)
            for alert in group.evaluate(self.context, slot, self._stopwatch)
        ]

    def changes(self) -> tuple[list[Kept], list[AlertKey]]:
        """Return the alerts that are not what they were at the last call, and the keys of those that are gone."""
        now = {kept.key: kept for kept in self._all()}
        changed = [kept for key, kept in now.items() if self._kept.get(key) != kept.alert.dates]
        gone = [key for key in self._kept if key not in now]
        self._kept = {key: kept.alert.dates for key, kept in now.items()}
        return changed, gone

    def restore(self, kept: Iterable[Kept], down_at: Instant, now: Instant, trust_absence_from: Instant) -> None:
        """
        Go on with what was kept when the daemon went down at `down_at`, whatever file the rules stand in now.

        Until `trust_absence_from` an alert that is not found stays as it is.
        """
        rows = {one.key: one for one in kept}
        self._kept = {key: one.alert.dates for key, one in rows.items()}
        for group in self.groups:
            for rule in group.alerting:
                mine = [key for key in rows if key[:2] == (group.spec.name, rule.spec.name) and rule.may_have(key[2])]
                rule.restore((rows.pop(key).alert for key in mine), down_at, now)
                rule.trust_absence_from = trust_absence_from

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        for group in self.groups:
            group.shift(by)

    def _all(self) -> Iterator[Kept]:
        for group in self.groups:
            for rule in group.alerting:
                for alert in rule.active.values():
                    yield Kept(group.spec.name, rule.spec.name, alert)

    def take_over(self, old: "Manager", at: Instant) -> list[Alert]:
        """Go on where `old` stood; return, as resolved, the firing alerts whose rules are gone."""
        self._kept = old._kept  # noqa: SLF001 - the same class
        by_key = {group.key: group for group in self.groups}
        for group in old.groups:
            if group.key in by_key:
                by_key[group.key].take_over(group)
        return [alert for group in old.groups for alert in group.left_behind(by_key.get(group.key), self.context, at)]
