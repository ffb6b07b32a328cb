"""Inhibition: an alert keeps quiet while another one, which explains it, fires."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from monitor.dispatch.store import AlertStore
from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher


@dataclass(frozen=True, slots=True)
class InhibitRule:
    """
    A firing alert that `source_matchers` accept mutes those that `target_matchers` accept.

    Both must have the same values of the `equal` labels; a label that is missing has the value "".
    """

    source_matchers: tuple[Matcher, ...]
    target_matchers: tuple[Matcher, ...]
    equal: tuple[str, ...] = ()
    name: str = ""

    def is_source(self, labels: Labels) -> bool:
        return all(matcher.accepts(labels) for matcher in self.source_matchers)

    def is_target(self, labels: Labels) -> bool:
        return all(matcher.accepts(labels) for matcher in self.target_matchers)

    def key(self, labels: Labels) -> tuple[str, ...]:
        """Return the values that source and target must share."""
        return tuple(labels.value(name) for name in self.equal)


@dataclass(frozen=True, slots=True)
class _Source:
    labels: Labels
    is_target: bool


# For each rule its sources, by the values of the equal labels.
_Index = list[dict[tuple[str, ...], list[_Source]]]


class Inhibitor:
    """
    Says which firing alerts mute another one. Safe to call from any thread.

    That a source is silenced or itself inhibited makes no difference.
    reference: Alertmanager, inhibit/inhibit.go.
    """

    def __init__(self, rules: Sequence[InhibitRule], store: AlertStore) -> None:
        self._rules = rules
        self._store = store
        self._indexed: tuple[int, Instant, _Index] = (-1, 0, [])

    def inhibiting(self, labels: Labels, now: Instant) -> list[Labels]:
        """Return the alerts that mute one with `labels` at `now`."""
        found: dict[Labels, None] = {}
        for rule, index in zip(self._rules, self._index(now), strict=True):
            if not rule.is_target(labels):
                continue
            # Of alerts that are on both sides none mutes another, or they might all mute each other.
            both = rule.is_source(labels)
            sources = index.get(rule.key(labels), ())
            found.update((source.labels, None) for source in sources if not (both and source.is_target))
        return list(found)

    def _index(self, now: Instant) -> _Index:
        """Return the sources of each rule; all groups of a flush share one index."""
        version, at, index = self._indexed
        if (version, at) != (self._store.version, now):
            version = self._store.version
            firing = [stored.alert.labels for stored in self._store.firing(now)]
            index = [_sources(rule, firing) for rule in self._rules]
            self._indexed = (version, now, index)
        return index


def _sources(rule: InhibitRule, firing: Iterable[Labels]) -> dict[tuple[str, ...], list[_Source]]:
    found: dict[tuple[str, ...], list[_Source]] = {}
    for labels in firing:
        if rule.is_source(labels):
            found.setdefault(rule.key(labels), []).append(_Source(labels, rule.is_target(labels)))
    return found
