"""Rows of the window that say what the probes know."""

from collections.abc import Hashable

from monitor.model.instant import Instant
from monitor.model.target import Target
from monitor.probe.readings import NOTHING, Readings
from monitor.probe.series import Samples, probe_series
from monitor.scrape.appender import Storage
from monitor.storage.column import Column


class Rows:
    """
    What one kind of probe knows of `target`, as the block of `owner`.

    Samples are made anew only when something else is known. Anybody may ask for them, one thread at a time writes.
    """

    def __init__(self, storage: Storage, owner: Hashable, target: Target) -> None:
        self.owner = owner
        self._storage = storage
        self._target = target
        self._block = storage.block(owner)
        self._known: tuple[Readings, Samples] = (NOTHING, [])
        self._written: Samples = []
        self._columns: list[Column] = []

    def samples(self, readings: Readings) -> Samples:
        before, samples = self._known
        if readings != before:
            samples = probe_series(readings, self._target)
            self._known = (readings, samples)
        return samples

    def write(self, at: Instant, readings: Readings) -> None:
        """Write a row; a series of the last one that it lacks is stale."""
        samples = self.samples(readings)
        labels = [labels for labels, _ in samples]
        if samples is not self._written and labels != [labels for labels, _ in self._written]:
            self._columns = [self._block.column(labels) for labels in labels]
        self._written = samples
        self._block.append(at, self._columns, [value for _, value in samples])

    def end(self, at: Instant) -> None:
        self._storage.end(self.owner, at)
