"""Which rules are blind, seen while the daemon runs: a page is taken apart when it may offer something else."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import INSTANCE, JOB, METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.model.sample import Metadata
from monitor.model.target import Target
from monitor.probe.series import VERSION
from monitor.rules.spec import RuleGroup
from monitor.scrape.shape import Page
from monitor.sight.fleet import View
from monitor.sight.offer import offer_of
from monitor.sight.report import NOTHING_SEEN, Report, Sight
from monitor.storage.window import Window

# How long after a look the next one is due at the earliest: a page takes some 10 ms, and a busy one changes often.
# Where something is wrong, sooner: an alert should not outlive its reason by much.
LEAST: Duration = 5 * MINUTE
LEAST_WHEN_BLIND: Duration = MINUTE
_MOST_AT_ONCE = 10
_VERSION_AGE: Duration = 15 * MINUTE


class Watched(Protocol):
    """A target that is scraped. `metadata` is another object whenever the lines of the page are others."""

    @property
    def target(self) -> Target: ...
    @property
    def owner(self) -> Hashable: ...
    @property
    def metadata(self) -> Mapping[str, Metadata]: ...

    def whole_page(self) -> Page:
        """Return the last good page, all of it."""
        ...


@dataclass(frozen=True, slots=True)
class _Look:
    """What the last look at a target was at, when, and what was seen."""

    metadata: Mapping[str, Metadata]
    version: str
    at: Instant
    view: View


class Watch:
    """
    Watches all targets of one configuration. One thread at a time calls `step`; anybody may read `sight`.

    `version_of` returns what a server says of itself at an instant, "" when it has said nothing.
    """

    def __init__(
        self,
        groups: Sequence[RuleGroup],
        targets: Sequence[Watched],
        version_of: Callable[[Target, Instant], str],
        given: Collection[str] = (),
    ) -> None:
        self.sight = NOTHING_SEEN
        self._report = Report(groups, given)
        self._targets = targets
        self._version_of = version_of
        self._looks: dict[Hashable, _Look] = {}
        self._in_trouble: frozenset[Labels] = frozenset()

    def follow(self, targets: Sequence[Watched]) -> None:
        """From now on these are the targets. Any thread may call this."""
        self._targets = targets

    def step(self, at: Instant) -> None:
        """Look at some of the targets that may offer something else than when they were last looked at."""
        targets = self._targets
        changed = self._forget(targets)
        for watched in [one for one in targets if self._is_due(one, at)][:_MOST_AT_ONCE]:
            before = self._looks.get(watched.owner)
            look = self._looks[watched.owner] = self._look(watched, at)
            changed = changed or before is None or look.view != before.view
        # At the start all are seen before anything is said: one may have what a rule needs that another lacks.
        if changed and not any(one.metadata and one.owner not in self._looks for one in targets):
            views = [look.view for look in self._looks.values()]
            self._show(Sight.of(self._report.findings(views), sum(view.is_server for view in views)))

    def _forget(self, targets: Sequence[Watched]) -> bool:
        """Drop what was seen of targets that are gone, and return whether there were any."""
        gone = self._looks.keys() - {watched.owner for watched in targets}
        for owner in gone:
            del self._looks[owner]
        return bool(gone)

    def take_over(self, old: "Watch") -> None:
        """Go on with what `old` has seen until everything has been looked at with these rules."""
        there = {watched.target.labels for watched in self._targets}
        kept = (finding for finding in old.sight.findings if finding.target in there)
        self._show(Sight.of(kept, old.sight.servers))

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._looks = {
            owner: _Look(look.metadata, look.version, look.at + by, look.view) for owner, look in self._looks.items()
        }

    def _show(self, sight: Sight) -> None:
        self._in_trouble = frozenset(one.target for one in sight.unexplained)
        self.sight = sight

    def _is_due(self, watched: Watched, at: Instant) -> bool:
        if not watched.metadata:
            return False
        look = self._looks.get(watched.owner)
        if look is None:
            return True
        version = self._version_of(watched.target, at)
        least = LEAST_WHEN_BLIND if watched.target.labels in self._in_trouble else LEAST
        is_other = watched.metadata is not look.metadata and at - look.at >= least
        return is_other or (bool(version) and version != look.version)

    def _look(self, watched: Watched, at: Instant) -> _Look:
        metadata, page = watched.metadata, watched.whole_page()
        version = self._version_of(watched.target, at)
        labels = (one.labels for one in (*page.series, *(timed.series for timed in page.timed)))
        offer = offer_of(labels, page.families, watched.target.labels, version)
        view = View.of(offer, self._report.leaves)
        # Replicas see the same, which is kept once.
        same = (look.view.blind for look in self._looks.values() if look.view.blind == view.blind)
        return _Look(metadata, version, at, replace(view, blind=next(same, view.blind)))


def version_in(window: Window) -> Callable[[Target, Instant], str]:
    """Return what finds the version that the probes of a target have found."""

    def version_of(target: Target, at: Instant) -> str:
        labels = [equal(name, target.labels.value(name)) for name in (JOB, INSTANCE)]
        columns = window.select((equal(METRIC_NAME, VERSION), *labels))
        there = [(found[0], column.labels) for column in columns if (found := column.newest(at - _VERSION_AGE, at))]
        newest = max(there, default=(0, Labels()))
        return newest[1].value("version")

    return version_of
