"""Evaluate on arrival: a slot's rules run as soon as every target of the slot has answered or failed."""

import threading
from collections.abc import Callable, Iterable

from monitor.model.instant import Duration, Instant, to_seconds


class Arrivals:
    """Knows which scrapes of a slot are still on their way. Safe to use from any thread."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._pending: dict[Instant, set[object]] = {}
        self._announced: dict[Duration, Instant] = {}
        self._changed = threading.Condition()

    def expect(self, slot: Instant, interval: Duration, targets: Iterable[object]) -> None:
        """The scrapes of `targets`, which are due every `interval`, have begun for `slot`."""
        with self._changed:
            self._pending.setdefault(slot, set()).update(targets)
            self._announced[interval] = slot
            for old in [slot_ for slot_, left in self._pending.items() if slot_ < slot and not left]:
                del self._pending[old]
            self._changed.notify_all()

    def landed(self, slot: Instant, target: object) -> None:
        """The scrape of `target` for `slot` has answered or failed."""
        with self._changed:
            left = self._pending.get(slot)
            if left is not None:
                left.discard(target)
                self._changed.notify_all()

    def wait(self, slot: Instant, intervals: Iterable[Duration], until: Instant) -> bool:
        """
        Wait until all targets that are due in `slot` have landed, but no longer than `until`.

        `intervals` are those of all scrape jobs. Returns whether all landed; a later answer counts in the next slot.
        """
        due = [interval for interval in intervals if slot % interval == 0]
        with self._changed:
            return self._changed.wait_for(
                lambda: (
                    all(self._announced.get(interval, 0) >= slot for interval in due) and not self._pending.get(slot)
                ),
                timeout=max(0.0, to_seconds(until - self._now())),
            )
