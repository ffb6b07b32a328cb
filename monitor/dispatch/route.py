"""The route tree: which receiver hears of an alert, grouped how."""

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.model.instant import HOUR, MINUTE, SECOND, Duration
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher


@dataclass(frozen=True, slots=True)
class Route:
    """
    One node of the tree, with what it inherits already filled in.

    `key` is the path of matchers from the root, as Alertmanager writes it: `{}/{severity="critical"}`.
    Durations are milliseconds; the defaults are Alertmanager's. The time intervals are named, and never inherited.
    """

    receiver: str
    group_by: tuple[str, ...] = ()
    group_by_all: bool = False
    group_wait: Duration = 30 * SECOND
    group_interval: Duration = 5 * MINUTE
    repeat_interval: Duration = 4 * HOUR
    matchers: tuple[Matcher, ...] = ()
    continue_: bool = False
    mute_time_intervals: tuple[str, ...] = ()
    active_time_intervals: tuple[str, ...] = ()
    routes: tuple["Route", ...] = ()
    key: str = "{}"

    def match(self, labels: Labels) -> Iterator["Route"]:
        """
        Yield the nodes that an alert with `labels` goes to; this node is known to match.

        reference: Alertmanager, dispatch/route.go: depth first; the first child that matches ends the search unless
        it says `continue`; a node whose children all decline takes the alert itself.
        """
        taken = False
        for child in self.routes:
            if all(matcher.accepts(labels) for matcher in child.matchers):
                taken = True
                yield from child.match(labels)
                if not child.continue_:
                    break
        if not taken:
            yield self

    def group_labels(self, labels: Labels) -> Labels:
        """Return the labels by which this node groups an alert."""
        return labels if self.group_by_all else labels.only(self.group_by)


def route_key(matchers: tuple[Matcher, ...], parent: str = "") -> str:
    """Return the key of a node below `parent`."""
    own = "{" + ",".join(sorted(str(matcher) for matcher in matchers)) + "}"
    return f"{parent}/{own}" if parent else own
