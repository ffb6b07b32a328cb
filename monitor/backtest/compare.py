"""Two sets of rules over the same history, side by side."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.backtest.outcome import Episode, Outcome
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.notify.severity import SEVERITY

# Two that begin so close to each other are about the same trouble, also where one is over before the other begins.
NEAR: Duration = 10 * MINUTE


@dataclass(frozen=True, slots=True)
class One:
    """An episode of an alert that only one of the two sets tells of."""

    labels: Labels
    episode: Episode


@dataclass(frozen=True, slots=True)
class Both:
    """An episode of which both tell."""

    labels: Labels
    first: Episode
    second: Episode

    @property
    def later(self) -> Duration:
        """By how much the second set is later; below zero it is sooner."""
        return self.second.fired_at - self.first.fired_at


@dataclass(frozen=True, slots=True)
class Comparison:
    """What only the first set tells of, what only the second, and what both do; each by time."""

    only_first: tuple[One, ...]
    only_second: tuple[One, ...]
    both: tuple[Both, ...]


def compare(first: Outcome, second: Outcome) -> Comparison:
    """Compare two outcomes over one period: by the labels of their alerts, whatever their severity."""
    lefts, rights = _episodes(first), _episodes(second)
    only_first: list[One] = []
    only_second: list[One] = []
    both: list[Both] = []
    for labels in {**lefts, **rights}:
        pairs, left, right = _paired(lefts.get(labels, ()), rights.get(labels, ()), first.end)
        both += [Both(labels, *pair) for pair in pairs]
        only_first += [One(labels, episode) for episode in left]
        only_second += [One(labels, episode) for episode in right]
    return Comparison(
        tuple(sorted(only_first, key=_began)),
        tuple(sorted(only_second, key=_began)),
        tuple(sorted(both, key=lambda one: one.first.fired_at)),
    )


def _began(one: One) -> Instant:
    return one.episode.fired_at


def _episodes(outcome: Outcome) -> dict[Labels, list[Episode]]:
    found: defaultdict[Labels, list[Episode]] = defaultdict(list)
    for one in outcome.fired:
        found[one.labels.without((SEVERITY,))] += one.episodes
    return {labels: sorted(episodes, key=lambda one: one.fired_at) for labels, episodes in found.items()}


def _paired(
    left: Sequence[Episode], right: Sequence[Episode], end: Instant
) -> tuple[list[tuple[Episode, Episode]], list[Episode], list[Episode]]:
    """Return the pairs that are about the same trouble, and what is left of both sides."""
    rest = list(right)
    pairs: list[tuple[Episode, Episode]] = []
    alone: list[Episode] = []
    for one in left:
        partner = next((other for other in rest if _are_same(one, other, end)), None)
        if partner is None:
            alone.append(one)
        else:
            rest.remove(partner)
            pairs.append((one, partner))
    return pairs, alone, rest


def _are_same(one: Episode, other: Episode, end: Instant) -> bool:
    if abs(one.fired_at - other.fired_at) <= NEAR:
        return True
    return one.fired_at <= (other.resolved_at or end) and other.fired_at <= (one.resolved_at or end)
