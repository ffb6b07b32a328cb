"""
The probes of one target: what is due when, what is known, and the series it becomes.

Three threads meet here: one asks a round of questions, one runs errands that take longer, one writes before the rules
are evaluated. Each has its own values, which are frozen and replaced whole; nobody waits for anybody.
"""

import logging
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import EMPTY, INSTANCE, Labels
from monitor.model.target import Target
from monitor.probe.options import ERRANDS, ROUND, Probe, ProbeOptions
from monitor.probe.page import PageFacts
from monitor.probe.pools import pools_of
from monitor.probe.questions import Ask, Round, without
from monitor.probe.readings import NOTHING, Health, Readings
from monitor.probe.rows import Rows
from monitor.probe.series import Samples
from monitor.scrape.appender import Storage
from monitor.scrape.errors import Reason
from monitor.scrape.shape import Page

log = logging.getLogger(__name__)

Outcome = Mapping[Probe, Reason | None]

# When to ask again what was not answered.
RETRY: Duration = MINUTE
# So many slots without a round, and what it found is no longer said.
_SLOTS = 3
# What another process may answer otherwise.
_OF_THE_PROCESS = (Probe.VERSION, Probe.MODELS, Probe.EXPOSURE)
_ABSENT = (Health.REFUSED, Health.TIMEOUT, Health.ERROR)


class ProbeLoop:
    """
    Probes one target. `ask` does a round, `errands` one after the other what takes longer; both never raise.

    `page` returns the newest page of the target, `Page()` when its last scrape failed.
    """

    def __init__(
        self,
        target: Target,
        options: ProbeOptions,
        storage: Storage,
        ask: Ask,
        *,
        errands: Sequence[Ask] = (),
        page: Callable[[], Page] = Page,
    ) -> None:
        self.target = target
        self.options = options
        self.owner = ("probe", target.job, target.url, target.labels)
        self.errand_key = ("errand", self.owner)
        self._ask = ask
        self._errands = errands
        self._facts = PageFacts(page)
        # Apart, so that after a restart what is asked seldom stands as it was until it has been asked.
        self._rows = Rows(storage, self.owner, target)
        self._errand_rows = {probe: Rows(storage, (probe.value, self.owner), target) for probe in ERRANDS}
        self._next: dict[Probe, Instant] = {}
        self._round = NOTHING
        self._round_at: Instant | None = None
        self._errand = NOTHING
        self._found_at: dict[Probe, Instant] = {}
        self._started: float | None = None
        self._had_page = self._lost_page = self._is_stopped = False

    @property
    def owners(self) -> tuple[Hashable, ...]:
        """Who writes, as the window knows it."""
        return (self.owner, *(rows.owner for rows in self._errand_rows.values()))

    @property
    def interval(self) -> Duration:
        return self.options.scrape.scrape_interval

    def probe(self, at: Instant) -> Outcome:
        """Ask what is due in the slot `at`; returns why each probe failed, None for those that did not."""
        self._look_for_restart()
        due = self._due(ROUND, at)
        found = self._ask(due, self._round)
        self._settle(due, found, at)
        self._look_at_health(self._round.health, found.readings.health)
        self._round, self._round_at = found.readings, at
        return found.done

    def has_errands(self, at: Instant) -> bool:
        return bool(self._errands) and bool(self._due(ERRANDS, at))

    def run_errands(self, at: Instant) -> Outcome:
        """Do the errands that are due."""
        due = self._due(ERRANDS, at)
        done: dict[Probe, Reason | None] = {}
        for errand in self._errands:
            # A server that is gone is asked for what it had.
            models = self._round.models or self._errand.models
            found = errand(due, replace(self._errand, models=models))
            self._settle(found.done, found, at)
            self._errand = found.readings
            self._found_at = {**self._found_at, **dict.fromkeys(found.done, at)}
            done.update(found.done)
        return done

    def known(self, at: Instant) -> tuple[Readings, Labels]:
        """Return what a round has found, as of `at`, and the labels of the first engine's `cache_config_info`."""
        return self._of_round(at), next(iter(self._facts.configs()), EMPTY)

    def samples(self, at: Instant) -> Samples:
        """Return what is known at `at`, as samples. Safe to call from any thread."""
        found = list(self._rows.samples(self._of_round(at)))
        for probe, rows in self._errand_rows.items():
            found += rows.samples(self._of_errand(probe, at))
        return found

    def write(self, at: Instant) -> None:
        """Write what is known as of `at`; what is not known any more is stale, but what never was asked is not."""
        if self._is_stopped:
            return
        if self._round_at is not None:
            self._rows.write(at, self._of_round(at))
        for probe, rows in self._errand_rows.items():
            if probe in self._found_at:
                rows.write(at, self._of_errand(probe, at))

    @property
    def is_stopped(self) -> bool:
        """Whether the target is gone for good."""
        return self._is_stopped

    def stop(self, at: Instant) -> None:
        """The target is gone, or not probed any more: its series end."""
        self._is_stopped = True
        for rows in (self._rows, *self._errand_rows.values()):
            rows.end(at)

    def take_over(self, old: "ProbeLoop") -> None:
        """Go on with what `old` knows, which probed the same target in another way and does so no more."""
        kept = old._round  # noqa: SLF001 - the same class
        for probe in ROUND:
            kept = kept if self.options.every(probe) is not None else without(kept, probe)
        self._round, self._round_at = kept, old._round_at  # noqa: SLF001
        self._errand, self._found_at = old._errand, dict(old._found_at)  # noqa: SLF001

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._round_at = None if self._round_at is None else self._round_at + by
        self._found_at = {probe: at + by for probe, at in self._found_at.items()}
        self._next = {probe: at + by for probe, at in list(self._next.items())}

    def _of_round(self, at: Instant) -> Readings:
        longest = _SLOTS * self.interval + self.options.timeout
        known = self._round if self._round_at is not None and at - self._round_at <= longest else NOTHING
        return replace(known, pools=pools_of(self._facts.configs(), known.models))

    def _of_errand(self, probe: Probe, at: Instant) -> Readings:
        every, found_at = self.options.every(probe), self._found_at.get(probe)
        if every is None or found_at is None or at - found_at > _SLOTS * max(every, RETRY):
            return NOTHING
        if probe is Probe.EXPOSURE:
            return replace(NOTHING, exposed=self._errand.exposed)
        return replace(NOTHING, canary=self._errand.canary)

    def _due(self, probes: Collection[Probe], at: Instant) -> set[Probe]:
        return {probe for probe in probes if self._is_due(probe, at)}

    def _is_due(self, probe: Probe, at: Instant) -> bool:
        every, left = self.options.every(probe), self._next.get(probe, 0) - at
        # Later than the longest time to wait: somebody has set the clock while the last answer was on its way.
        return every is not None and not 0 < left <= max(every, RETRY)

    def _settle(self, due: Collection[Probe], found: Round, at: Instant) -> None:
        """Note when to ask again."""
        for probe in due:
            every = self.options.every(probe) or 0
            if probe in found.settled:
                self._next[probe] = at + every
            elif probe in found.done:
                self._next[probe] = at + max(RETRY, every if found.done[probe] is None else 0)

    def _look_for_restart(self) -> None:
        """Ask anew when the page is another process's, which may be another version with other flags."""
        started, has_page = self._facts.started(), self._facts.has_page()
        if started is not None and self._started is not None and started != self._started:
            self._forget(*_OF_THE_PROCESS)
        if has_page and self._lost_page:
            self._forget(Probe.VERSION, Probe.MODELS)
        self._started = started or self._started
        self._lost_page = self._had_page and not has_page
        self._had_page = self._had_page or has_page

    def _look_at_health(self, before: Health | None, now: Health | None) -> None:
        """Tell of a change; and ask anew when the process was out of sight: nobody knows what it is that comes back."""
        if now is not before and (before, now) != (None, Health.OK):
            told = {"job": self.target.job, "instance": self.target.labels.value(INSTANCE)}
            log.info("health %s => %s", before or "unknown", now or "unknown", extra=told)
        if now in _ABSENT:
            self._forget(Probe.VERSION, Probe.MODELS)
        elif before in _ABSENT:
            self._forget(Probe.EXPOSURE)

    def _forget(self, *probes: Probe) -> None:
        for probe in probes:
            self._next.pop(probe, None)
