"""
The targets there are now, and what scrapes and probes each of them.

Targets come and go while the daemon runs: what stays goes on as it is, what is gone has its series end.
"""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from monitor.discovery.populate import Discovered, JobSettings, populate
from monitor.discovery.provider import Provider
from monitor.model.instant import Duration, Instant
from monitor.model.target import Target
from monitor.model.targetgroup import TargetGroup
from monitor.probe.loop import ProbeLoop
from monitor.probe.options import ProbeOptions
from monitor.probing import prober_of
from monitor.scrape.fetch import Fetcher
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import ScrapeLoop
from monitor.storage.window import Window

log = logging.getLogger(__name__)

TargetKey = tuple[Target, ScrapeOptions]
ProberKey = tuple[Target, ProbeOptions]


@dataclass(frozen=True, slots=True)
class Job:
    """One scrape config: its settings, the targets that it names, and what finds others; without `probe` none is."""

    settings: JobSettings
    scrape: ScrapeOptions
    probe: ProbeOptions | None = None
    static: tuple[TargetGroup, ...] = ()
    providers: tuple[Provider, ...] = ()

    @property
    def name(self) -> str:
        return self.settings.job_name

    def groups(self) -> Iterator[TargetGroup]:
        yield from self.static
        for provider in self.providers:
            yield from provider.groups


@dataclass(frozen=True, slots=True)
class Members:
    """
    All targets at one time: those that are scraped, and of each job what relabelling made of each found one.

    `counts` says of each job how many were found and how many of them are scraped.
    """

    loops: Mapping[TargetKey, ScrapeLoop] = field(default_factory=dict)
    probers: Mapping[ProberKey, ProbeLoop] = field(default_factory=dict)
    found: Mapping[str, Sequence[Discovered]] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


NOBODY = Members()


class _Known(NamedTuple):
    """What became of the targets of a group, and those of them that are to be scraped."""

    group: TargetGroup
    found: tuple[Discovered, ...]
    kept: tuple[Discovered, ...]


class Pool:
    """
    The targets of one configuration. One thread at a time calls `sync` or `take_over`; anybody may read `members`.

    `members` is replaced whole; a target that `old` has too goes on as it is.
    """

    def __init__(self, jobs: Sequence[Job], window: Window, old: "Pool | None" = None) -> None:
        self.jobs = jobs
        self._window = window
        self._wanted: Collection[str] | None = None
        # What became of a group is not worked out again as long as it is the very same group.
        self._known: Mapping[str, Mapping[int, _Known]] = {}
        self.members: Members = self._members(old.members if old is not None else NOBODY)

    @property
    def scrape_intervals(self) -> set[Duration]:
        """In which rhythms anything is scraped, or may be as soon as a target is found."""
        found = {loop.options.scrape_interval for loop in self.members.loops.values()}
        return found | {job.scrape.scrape_interval for job in self.jobs}

    @property
    def is_complete(self) -> bool:
        """Whether every discovery has answered at least once."""
        return all(provider.answered.is_set() for job in self.jobs for provider in job.providers)

    @property
    def probes(self) -> bool:
        """Whether any target is probed, or would be if it were found."""
        return any(job.probe is not None for job in self.jobs)

    def want(self, wanted: Collection[str] | None) -> None:
        """Have all targets, those to come too, keep these metrics; None is all."""
        self._wanted = wanted
        for loop in self.members.loops.values():
            loop.wanted = wanted

    def sync(self, now: Instant) -> bool:
        """Go over to what discovery has found by now; returns whether anything is another than before."""
        before = self.members
        after = self._members(before)
        if after == before:
            return False
        self._go_over(before, after, now)
        return True

    def take_over(self, old: "Pool", now: Instant) -> None:
        """Go on in the place of `old`, whose scrapes have ended; what only `old` has comes to its end."""
        self._go_over(old.members, self._members(old.members), now)
        self.want(self._wanted)

    def _go_over(self, before: Members, after: Members, now: Instant) -> None:
        loops = {loop.owner: loop for loop in after.loops.values()}
        for loop in before.loops.values():
            successor = loops.get(loop.owner)
            if successor is None:
                loop.stop(now)
            elif successor is not loop:
                # A target that is only scraped in another way than before goes on with its rows.
                successor.take_over(loop)
        probers = {prober.owner: prober for prober in after.probers.values()}
        for prober in before.probers.values():
            follower = probers.get(prober.owner)
            if follower is None:
                prober.stop(now)
            elif follower is not prober:
                follower.take_over(prober)
        self.members = after

    def _members(self, old: Members) -> Members:
        loops: dict[TargetKey, ScrapeLoop] = {}
        probers: dict[ProberKey, ProbeLoop] = {}
        found: dict[str, Sequence[Discovered]] = {}
        counts: dict[str, tuple[int, int]] = {}
        self._known = {job.name: _groups_of(job, self._known.get(job.name, {})) for job in self.jobs}
        for job in self.jobs:
            known = self._known[job.name].values()
            found[job.name] = tuple(one for group in known for one in group.found)
            # One that is found twice is one target.
            targets: dict[Target, Discovered] = {}
            for one in (one for group in known for one in group.kept):
                if one.target is not None:
                    targets.setdefault(one.target, one)
            counts[job.name] = len(found[job.name]), len(targets)
            for target, one in targets.items():
                loop = self._loop(target, _in_rhythm(job.scrape, one), old)
                loops[target, loop.options] = loop
                if job.probe is not None:
                    options = replace(job.probe, scrape=loop.options)
                    probers[target, options] = self._prober(loop, options, old)
        return Members(loops, probers, found, counts)

    def _loop(self, target: Target, options: ScrapeOptions, old: Members) -> ScrapeLoop:
        loop = old.loops.get((target, options))
        if loop is None or loop.is_stopped:
            loop = ScrapeLoop(target, options, self._window, Fetcher(target.url, options), wanted=self._wanted)
        loop.target = target
        return loop

    def _prober(self, loop: ScrapeLoop, options: ProbeOptions, old: Members) -> ProbeLoop:
        prober = old.probers.get((loop.target, options))
        if prober is None or prober.is_stopped:
            return prober_of(loop.target, options, self._window, loop)
        return prober


def _groups_of(job: Job, known: Mapping[int, _Known]) -> dict[int, _Known]:
    """Return what became of each group of a job; one that is the very same as before is not gone through again."""
    groups: dict[int, _Known] = {}
    for group in job.groups():
        same = known.get(id(group))
        if same is None:
            found = tuple(populate((group,), job.settings))
            wrong = next((one for one in found if one.error), None)
            if wrong is not None:
                where = {"job": job.name, "source": group.source, "error": wrong.error}
                log.warning("a target that was found cannot be scraped", extra=where)
            same = _Known(group, found, tuple(one for one in found if one.target is not None))
        groups[id(group)] = same
    return groups


def _in_rhythm(options: ScrapeOptions, found: Discovered) -> ScrapeOptions:
    """Return the options of a job with the interval and the timeout of a target, which relabelling may have set."""
    if (found.scrape_interval, found.scrape_timeout) == (options.scrape_interval, options.scrape_timeout):
        return options
    return replace(options, scrape_interval=found.scrape_interval, scrape_timeout=found.scrape_timeout)
