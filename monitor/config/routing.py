"""Who is told of what: `route` in Alertmanager's words, built into the tree that dispatch walks."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import ClassVar

from monitor.config import not_yet
from monitor.config.fields import Matchers, PositiveDuration
from monitor.dispatch.route import Route, route_key
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.yamldoc.kinds import Boolean, Duration, LabelName, Text
from monitor.yamldoc.section import Section

# Alertmanager waits 30 s, because its alerts come from many evaluations at many times. Here all rules over one scrape
# are evaluated together, so what belongs together arrives together.
GROUP_WAIT = 1 * SECOND
GROUP_INTERVAL = 5 * MINUTE
REPEAT_INTERVAL = 4 * HOUR
ALL_LABELS = "..."


class RouteSection(Section):
    """One node of the tree as it is written; what it leaves out it has from its parent."""

    not_yet: ClassVar[dict[str, str]] = not_yet.ROUTE

    receiver: Text = ""
    group_by: tuple[LabelName, ...] = ()
    group_wait: Duration = GROUP_WAIT
    group_interval: PositiveDuration = GROUP_INTERVAL
    repeat_interval: PositiveDuration = REPEAT_INTERVAL
    matchers: tuple[Matchers, ...] = ()
    continue_: Boolean = False
    mute_time_intervals: tuple[Text, ...] = ()
    active_time_intervals: tuple[Text, ...] = ()
    routes: tuple["RouteSection", ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        if ALL_LABELS in self.group_by and len(self.group_by) > 1:
            yield "group_by", f'"{ALL_LABELS}" stands for all labels: it cannot have others beside it'
        for name in sorted({name for name in self.group_by if self.group_by.count(name) > 1}):
            yield "group_by", f'the label "{name}" is given twice'

    def built(self, parent: Route | None = None) -> Route:
        """Return the node with everything filled in that it has from `parent`."""
        given = self.model_fields_set
        above = parent or Route(self.receiver, (), False, self.group_wait, self.group_interval, self.repeat_interval)
        matchers = tuple(chain.from_iterable(self.matchers))
        node = Route(
            receiver=self.receiver or above.receiver,
            group_by=tuple(n for n in self.group_by if n != ALL_LABELS) if "group_by" in given else above.group_by,
            group_by_all=ALL_LABELS in self.group_by if "group_by" in given else above.group_by_all,
            group_wait=self.group_wait if "group_wait" in given else above.group_wait,
            group_interval=self.group_interval if "group_interval" in given else above.group_interval,
            repeat_interval=self.repeat_interval if "repeat_interval" in given else above.repeat_interval,
            matchers=matchers,
            continue_=self.continue_,
            mute_time_intervals=self.mute_time_intervals,
            active_time_intervals=self.active_time_intervals,
            key=route_key(matchers, parent.key if parent else ""),
        )
        return replace(node, routes=tuple(child.built(node) for child in self.routes))
