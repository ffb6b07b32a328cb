"""
The only place that tries again.

One lane for each integration, so that a receiver that hangs holds up nobody else. In a lane a newer word on a group
replaces the older one that could not be said yet: people need the present state, not the history of an outage.
"""

import logging
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.nflog import LogKey
from monitor.dispatch.notification import Notifier, NotifyError
from monitor.model.instant import MINUTE, SECOND, Duration, Instant, to_seconds

log = logging.getLogger(__name__)

FIRST_WAIT: Duration = SECOND
LONGEST_WAIT: Duration = MINUTE
# A dead token or channel may be mended by its owner; until then a knock now and then, and no hammering.
PROBE_WAIT: Duration = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class Letter:
    """A delivery that waits in a lane; `not_before` is when its next attempt may be made."""

    delivery: Delivery
    not_before: Instant
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one attempt to deliver; `error` is None when it went well."""

    delivery: Delivery
    error: NotifyError | None
    attempts: int


def wait_after(error: NotifyError, attempts: int, jitter: float) -> Duration:
    """
    Return how long to wait after the `attempts`-th failure in a row; `jitter` is 0..1.

    The receiver's own word is obeyed; else the wait doubles, and half of it is left to chance.
    """
    if error.retry_after is not None:
        return error.retry_after
    if not error.retryable:
        return PROBE_WAIT
    longest = min(LONGEST_WAIT, FIRST_WAIT << min(attempts - 1, 16))
    return round(longest * (0.5 + jitter / 2))


class Lane:
    """The letters to one integration. `put` from any thread; `deliver_due` from one thread at a time."""

    def __init__(self, notifier: Notifier, report: Callable[[Attempt], None], chance: Callable[[], float]) -> None:
        self._notifier = notifier
        self._report = report
        self._chance = chance
        self._letters: dict[LogKey, Letter] = {}
        self._quiet_until: Instant = 0
        self._under_way: LogKey | None = None
        self._successor: Lane | None = None
        self.changed = threading.Condition(threading.RLock())

    def put(self, delivery: Delivery, now: Instant) -> None:
        with self.changed:
            before = self._letters.pop(delivery.key, None)
            self._letters[delivery.key] = Letter(delivery, now, before.attempts if before is not None else 0)
            self.changed.notify()

    def next_due(self) -> Instant | None:
        """Return when the next attempt may be made, or None when the lane is empty."""
        with self.changed:
            earliest = min((letter.not_before for letter in self._letters.values()), default=None)
            return None if earliest is None else max(earliest, self._quiet_until)

    def waiting(self) -> int:
        with self.changed:
            return len(self._letters)

    def hand_over(self, successor: "Lane | None", now: Instant) -> None:
        """Give what waits to `successor`; an attempt under way ends here, and goes there too if it fails."""
        with self.changed:
            self._successor = successor
            under_way = {self._under_way}
            waiting = [letter.delivery for key, letter in self._letters.items() if key not in under_way]
            self._letters = {key: letter for key, letter in self._letters.items() if key in under_way}
        if successor is not None:
            for delivery in waiting:
                successor.put(delivery, now)

    def deliver_due(self, now: Instant) -> bool:
        """Make one attempt if one is due; returns whether one was made."""
        with self.changed:
            letter = next((one for one in self._letters.values() if one.not_before <= now), None)
            if letter is None or now < self._quiet_until:
                return False
            self._under_way = letter.delivery.key
        error = self._attempt(letter)
        with self.changed:
            self._under_way = None
            self._settle(replace(letter, attempts=letter.attempts + 1), error, now)
        self._report(Attempt(letter.delivery, error, letter.attempts + 1))
        return True

    def _attempt(self, letter: Letter) -> NotifyError | None:
        try:
            self._notifier.notify(letter.delivery.notification)
        except NotifyError as err:
            return err
        except Exception as err:  # a notifier that breaks its promise must not take the lane with it
            log.exception("notifier failed unexpectedly", extra={"integration": letter.delivery.integration})
            return NotifyError(f"unexpected {type(err).__name__}", reason="internal", retryable=True)
        return None

    def _settle(self, letter: Letter, error: NotifyError | None, now: Instant) -> None:
        key = letter.delivery.key
        newer = self._letters.get(key)
        if newer is None:
            return
        if error is None or error.reason == "message":
            # Delivered, or a message that this receiver will never take: a newer word is another message.
            if newer.delivery is letter.delivery:
                del self._letters[key]
            return
        if self._successor is not None:
            del self._letters[key]
            self._successor.put(newer.delivery, now)
            return
        wait = wait_after(error, letter.attempts, self._chance())
        self._letters[key] = replace(newer, not_before=now + wait, attempts=letter.attempts)
        if error.retry_after is not None:
            self._quiet_until = now + error.retry_after


class Outbox:
    """
    The lanes by integration.

    `report` hears of every attempt. Started, it has one thread a lane; in a replay `deliver_due` is called instead.
    """

    def __init__(
        self,
        notifiers: dict[str, Notifier],
        report: Callable[[Attempt], None],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._lanes = {name: Lane(notifier, report, chance) for name, notifier in notifiers.items()}
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()

    def put(self, delivery: Delivery, now: Instant) -> None:
        self._lanes[delivery.integration].put(delivery, now)

    def next_due(self) -> Instant | None:
        """Return when the next attempt of any lane may be made, or None when all are empty."""
        return min((due for lane in self._lanes.values() if (due := lane.next_due()) is not None), default=None)

    def waiting(self) -> dict[str, int]:
        """Return how many deliveries wait in each lane."""
        return {name: lane.waiting() for name, lane in self._lanes.items()}

    def take_over(self, old: "Outbox", now: Instant) -> None:
        """Go on with what still waits in the lanes of `old`; what has no lane here has nobody to be told any more."""
        for name, lane in old._lanes.items():  # noqa: SLF001 - the same class
            lane.hand_over(self._lanes.get(name), now)
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

    def _work(self, lane: Lane, now: Callable[[], Instant]) -> None:
        while True:
            if lane.deliver_due(now()):
                continue
            if self._stopping.is_set():
                return
            with lane.changed:
                due = lane.next_due()
                if (due is None or due > now()) and not self._stopping.is_set():
                    lane.changed.wait(None if due is None else max(0.0, to_seconds(due - now())))
