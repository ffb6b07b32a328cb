"""One sample for a series and a time: what a rule writes must not contradict what is there."""

import struct
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.sample import STALE, format_value
from monitor.rules.context import Appender, Vector
from monitor.rules.errors import RuleError


@dataclass
class OneTruth:
    """
    An appender that notices what Prometheus' storage refuses; the refusals lie in `refused`, by who wrote.

    reference: promtool 3.5.3, observed: a rule that writes another value than is there at that time has failed, one
    that writes before the newest sample too; the same value again is nothing, nor is a series that ends twice.
    """

    inner: Appender
    refused: dict[Hashable, str] = field(default_factory=dict)
    _newest: dict[Labels, tuple[Instant, float]] = field(default_factory=dict)
    _present: dict[Hashable, frozenset[Labels]] = field(default_factory=dict)

    def append(self, owner: Hashable, at: Instant, samples: Vector) -> None:
        """Write the samples of `owner`, also those that contradict: the test is over then."""
        for labels, value in samples:
            wrong = self._contradiction(labels, at, value)
            if wrong:
                self.refused[owner] = wrong
            else:
                self._newest[labels] = (at, value)
        present = frozenset(labels for labels, _ in samples)
        for labels in self._present.get(owner, frozenset()) - present:
            if self._newest[labels][0] < at:
                self._newest[labels] = (at, STALE)
        self._present[owner] = present
        # What it has to say is known here, and of input series as well.
        with suppress(RuleError):
            self.inner.append(owner, at, samples)

    def _contradiction(self, labels: Labels, at: Instant, value: float) -> str:
        newest, there = self._newest.get(labels, (None, value))
        if newest is None or newest < at or (newest == at and _bits(there) == _bits(value)):
            return ""
        if newest > at:
            return f"out of order sample of {labels}"
        return f"duplicate sample of {labels}: there is {format_value(there)} already, and now {format_value(value)}"


def _bits(value: float) -> bytes:
    return struct.pack("<d", value)
