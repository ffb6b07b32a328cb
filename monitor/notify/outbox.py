"""What receivers have yet to be told: one lane for each integration, so that one that hangs holds up nobody else."""

import logging
import random
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.notification import Notifier
from monitor.model.instant import Duration, Instant, to_seconds
from monitor.notify.fallback import copies
from monitor.notify.lane import Lane
from monitor.notify.letter import Attempt, Ledger, Letter, NoLedger

log = logging.getLogger(__name__)


class Outbox:
    """
    The lanes by integration.

    `report` hears of every attempt. `fallbacks` are the integrations that are told what another one cannot be told, by
    its name. Started, it has one thread a lane; in a replay `deliver_due` is called instead.
    """

    def __init__(
        self,
        notifiers: Mapping[str, Notifier],
        report: Callable[[Attempt], None],
        ledger: Ledger | None = None,
        chance: Callable[[], float] = random.random,
        fallbacks: Mapping[str, Sequence[Integration]] | None = None,
    ) -> None:
        kept = ledger if ledger is not None else NoLedger()
        around = fallbacks or {}
        self._lanes = {
            name: Lane(notifier, report, chance, kept, partial(self._divert, around[name]) if name in around else None)
            for name, notifier in notifiers.items()
        }
        self._ledger = kept
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()

    def put(self, delivery: Delivery, now: Instant, attempts: int = 0, *, diverted: bool = False) -> None:
        """
        Take a delivery that the ledger knows.

        `attempts` were begun on it in an earlier life, and with `diverted` others were given it as well. One for an
        integration that no longer exists has nobody to be told.
        """
        lane = self._lanes.get(delivery.integration)
        if lane is None:
            self._ledger.settle(delivery.notification.id)
            return
        lane.put(Letter(delivery, now, attempts, delivery.notification.now, diverted=diverted))

    def put_again(self, delivery: Delivery, now: Instant) -> None:
        """Take a delivery that was given up; its integration is there."""
        letter = Letter(delivery, now, since=delivery.notification.now, diverted=True)
        self._lanes[delivery.integration].revive(letter)

    def has(self, integration: str) -> bool:
        """Say whether there is somebody to be told."""
        return integration in self._lanes

    def recall(self, astray: Iterable[tuple[str, str]]) -> None:
        """Others have heard of the beginning of these groups, in an earlier life; pairs of an integration and a key."""
        for integration, group_key in astray:
            if integration in self._lanes:
                self._lanes[integration].recall((group_key,))

    def letters(self) -> dict[str, list[Letter]]:
        """Return what waits in each lane, the oldest first."""
        return {name: lane.letters() for name, lane in self._lanes.items()}

    def hasten(self, ids: Collection[str], now: Instant) -> int:
        """Let these letters wait no longer, unless their receiver asked for it; returns how many of them wait."""
        return sum(lane.hasten(ids, now) for lane in self._lanes.values())

    def next_due(self) -> Instant | None:
        """Return when the next attempt of any lane may be made, or None when all are empty."""
        return min((due for lane in self._lanes.values() if (due := lane.next_due()) is not None), default=None)

    def waiting(self) -> dict[str, int]:
        """Return how many deliveries wait in each lane."""
        return {name: lane.waiting() for name, lane in self._lanes.items()}

    def failing_since(self) -> Instant | None:
        """Return since when there is something that could not be told when it was tried, or None."""
        since = (lane.failing_since() for lane in self._lanes.values())
        return min((one for one in since if one is not None), default=None)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        for lane in self._lanes.values():
            lane.shift(by)

    def take_over(self, old: "Outbox") -> None:
        """Go on with what still waits in the lanes of `old`; what has no lane here has nobody to be told any more."""
        for name, lane in old._lanes.items():  # noqa: SLF001 - the same class
            lane.hand_over(self._lanes.get(name))
        old.stop(0)

    def deliver_due(self, now: Instant) -> None:
        """Make every attempt that is due at `now`."""
        for lane in self._lanes.values():
            while lane.deliver_due(now):
                pass

    def start(self, now: Callable[[], Instant]) -> None:
        """Deliver from threads of its own until stopped."""
        for name, lane in self._lanes.items():
            thread = threading.Thread(target=self._work, args=(lane, now), name=f"outbox {name}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, patience: float) -> bool:
        """Let what is due go out, for at most `patience` seconds in all; returns whether all lanes came to an end."""
        self._stopping.set()
        for lane in self._lanes.values():
            with lane.changed:
                lane.changed.notify()
        for thread in self._threads:
            thread.join(patience / len(self._threads))
        return not any(thread.is_alive() for thread in self._threads)

    def _divert(self, to: Sequence[Integration], letter: Letter, why: str, now: Instant) -> None:
        made = tuple(copies(letter.delivery, to, why))
        if made:
            told = {"integration": letter.delivery.integration, "to": ", ".join(one.integration for one in made)}
            log.warning("told the fallback", extra=told | {"group": letter.group_key, "reason": why})
        self._ledger.divert(letter.delivery, made, now)
        for one in made:
            self.put(one, now)

    def _work(self, lane: Lane, now: Callable[[], Instant]) -> None:
        while True:
            # Looked at first: what was put in before the stop is due after it.
            stopping = self._stopping.is_set()
            if lane.deliver_due(now()):
                continue
            if stopping:
                return
            with lane.changed:
                due = lane.next_due()
                if (due is None or due > now()) and not self._stopping.is_set():
                    lane.changed.wait(None if due is None else max(0.0, to_seconds(due - now())))
