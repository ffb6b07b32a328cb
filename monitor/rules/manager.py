"""All groups: which are due, and how a reload carries their state over."""

from collections.abc import Hashable, Iterable

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.rules.context import Context
from monitor.rules.group import Group, Stopwatch
from monitor.rules.spec import RuleGroup


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

    def take_over(self, old: "Manager", at: Instant) -> list[Alert]:
        """Go on where `old` stood; return, as resolved, the firing alerts whose rules are gone."""
        by_key = {group.key: group for group in self.groups}
        for group in old.groups:
            if group.key in by_key:
                by_key[group.key].take_over(group)
        return [alert for group in old.groups for alert in group.left_behind(by_key.get(group.key), self.context, at)]
