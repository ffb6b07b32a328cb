"""The letters to one integration, in order, and the only place that tries again."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.nflog import LogKey
from monitor.dispatch.notification import Notification, Notifier, NotifyError
from monitor.model.instant import MINUTE, SECOND, Duration, Instant
from monitor.notify.severity import Severity, severity_of, worst

log = logging.getLogger(__name__)

FIRST_WAIT: Duration = SECOND
LONGEST_WAIT: Duration = MINUTE
# A dead token or channel may be mended by its owner; until then a knock now and then, and no hammering.
PROBE_WAIT: Duration = 5 * MINUTE


class Ledger(Protocol):
    """Keeps letters beyond the life of the process; a letter is entered before it comes here. Never raises."""

    def attempt(self, letter: str) -> None:
        """An attempt to deliver the letter begins."""
        ...

    def settle(self, letter: str) -> None:
        """The letter needs no attempt any more."""
        ...


@runtime_checkable
class Editor(Protocol):
    """
    An integration that keeps one message a group true, so that the newest word is all that it needs.

    It knows by itself what it has told, what it may have told, and how fast it may tell.
    """

    def ready_at(self, notification: Notification) -> Instant:
        """Return when the notification may be delivered."""
        ...


@dataclass(frozen=True, slots=True)
class Letter:
    """
    A delivery that waits; `not_before` is when its next attempt may be made.

    `since` is when there was first something to tell of its group that has not been told.
    """

    delivery: Delivery
    not_before: Instant
    attempts: int = 0
    since: Instant = 0

    @property
    def id(self) -> str:
        return self.delivery.notification.id

    @property
    def urgency(self) -> int:
        """0 is told first: what is critical before what is not, and what fires before what is over."""
        told = self.delivery.notification
        rank = worst(severity_of(alert) for alert in told.firing or told.alerts).rank
        return rank + len(Severity) * told.is_resolved


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
    """
    Letters are put in from any thread, and delivered from one thread at a time.

    The letters of one group keep their order, so that nobody hears of an end before the beginning. While the receiver
    cannot be told, a newer word takes the place of the older one, unless one of them says that an alert is over: people
    need the present state, and nothing that began may seem to last for ever. An Editor shows the present state anyhow:
    to it a newer word always takes the place of the older one.

    Of the groups that may be told now, the worst comes first.
    """

    def __init__(
        self, notifier: Notifier, report: Callable[[Attempt], None], chance: Callable[[], float], ledger: Ledger
    ) -> None:
        self._notifier = notifier
        self._editor = notifier if isinstance(notifier, Editor) else None
        self._report = report
        self._chance = chance
        self._ledger = ledger
        self._letters: list[Letter] = []
        self._quiet_until: Instant = 0
        self._moved: Duration = 0
        self._under_way: Letter | None = None
        self._successor: Lane | None = None
        # Groups of which a lane before this one still tells something: what follows must wait for its end.
        self._held: set[LogKey] = set()
        # Also held by whoever waits for a letter to come.
        self.changed = threading.Condition(threading.RLock())

    def put(self, letter: Letter) -> None:
        with self.changed:
            older = next((one for one in reversed(self._letters) if one.delivery.key == letter.delivery.key), None)
            if older is None or older is self._under_way or (self._editor is None and _tells_an_end(older, letter)):
                older = None
            else:
                self._letters.remove(older)
                # News is worth a knock at once, but it does not make the receiver any healthier.
                attempts, since = letter.attempts + older.attempts, min(letter.since, older.since)
                letter = replace(letter, attempts=attempts, since=since)
            self._letters.append(letter)
            self.changed.notify()
        if older is not None:
            self._ledger.settle(older.id)

    def next_due(self) -> Instant | None:
        """Return when the next attempt may be made, or None when the lane is empty."""
        with self.changed:
            earliest = min((self._ready_at(letter) for letter in self._heads()), default=None)
            return None if earliest is None else max(earliest, self._quiet_until)

    def waiting(self) -> int:
        with self.changed:
            return len(self._letters)

    def failing_since(self) -> Instant | None:
        """Return since when there is something that could not be told when it was tried, or None when there is not."""
        with self.changed:
            return min((one.since for one in self._letters if one.attempts), default=None)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: what waits, waits no longer and no shorter for it."""
        with self.changed:
            moved = {
                id(one): replace(one, not_before=one.not_before + by, since=one.since + by) for one in self._letters
            }
            self._under_way = moved.get(id(self._under_way), self._under_way) if self._under_way else None
            self._letters = [moved[id(one)] for one in self._letters]
            self._quiet_until += by
            self._moved += by
            self.changed.notify()

    def hand_over(self, successor: "Lane | None") -> None:
        """
        Give what waits to `successor`; an attempt under way ends here, and goes there too if it fails.

        Until then nothing newer of its group is told there.
        """
        with self.changed:
            self._successor = successor
            if successor is not None:
                successor.hold(self._held | ({self._under_way.delivery.key} if self._under_way else set()))
            waiting = [letter for letter in self._letters if letter is not self._under_way]
            self._letters = [letter for letter in self._letters if letter is self._under_way]
            quiet_until = self._quiet_until
        if successor is not None:
            successor.keep_quiet(quiet_until)
        for letter in waiting:
            if successor is not None:
                successor.put(letter)
            else:
                self._ledger.settle(letter.id)

    def deliver_due(self, now: Instant) -> bool:
        """Make one attempt if one is due; returns whether one was made."""
        with self.changed:
            due = [one for one in self._heads() if self._ready_at(one) <= now]
            if not due or now < self._quiet_until:
                return False
            letter = min(due, key=lambda one: one.urgency)
            self._under_way = letter
            moved = self._moved
        error = self._attempt(letter)
        done = error is None or error.hopeless
        with self.changed:
            letter = self._under_way or letter
            self._under_way = None
            self._letters.remove(letter)
            if error is not None and not done:
                # The clock may have been set during the attempt.
                self._keep(letter, error, now + self._moved - moved)
            if self._successor is not None:
                self._successor.release(letter.delivery.key)
        if done:
            self._ledger.settle(letter.id)
        self._report(Attempt(letter.delivery, error, letter.attempts + 1))
        return True

    def _heads(self) -> list[Letter]:
        """Return the first letter of each group, the only ones that may go out."""
        heads: dict[tuple[str, str], Letter] = {}
        for letter in self._letters:
            heads.setdefault(letter.delivery.key, letter)
        return [letter for key, letter in heads.items() if key not in self._held]

    def _ready_at(self, letter: Letter) -> Instant:
        if self._editor is None:
            return letter.not_before
        return max(letter.not_before, self._editor.ready_at(letter.delivery.notification))

    def _attempt(self, letter: Letter) -> NotifyError | None:
        try:
            self._ledger.attempt(letter.id)
            self._notifier.notify(letter.delivery.notification)
        except NotifyError as err:
            return err
        except Exception as err:  # a notifier that breaks its promise must not take the lane with it
            log.exception("notifier failed unexpectedly", extra={"integration": letter.delivery.integration})
            return NotifyError(f"unexpected {type(err).__name__}", reason="internal", retryable=True, doubtful=True)
        return None

    def _keep(self, letter: Letter, error: NotifyError, now: Instant) -> None:
        attempts = letter.attempts + 1
        wait = wait_after(error, attempts, self._chance())
        again = replace(letter, not_before=now + wait, attempts=attempts)
        # An Editor knows itself which of its methods must rest.
        if error.retry_after is not None and self._editor is None:
            self.keep_quiet(now + error.retry_after)
        self.put_first(again)

    def keep_quiet(self, until: Instant) -> None:
        """Make no attempt before `until`."""
        with self.changed:
            self._quiet_until = max(self._quiet_until, until)
            if self._successor is not None:
                self._successor.keep_quiet(until)

    def hold(self, keys: set[LogKey]) -> None:
        """Tell nothing of these groups before they are released."""
        with self.changed:
            self._held |= keys

    def release(self, key: LogKey) -> None:
        """The attempt of an earlier lane at this group has ended."""
        with self.changed:
            self._held.discard(key)
            if self._successor is not None:
                self._successor.release(key)
            self.changed.notify()

    def put_first(self, letter: Letter) -> None:
        """Take a letter that is older than all that wait here."""
        with self.changed:
            if self._successor is not None:
                self._successor.put_first(letter)
                return
            self._letters.insert(0, letter)
            self.changed.notify()


def _tells_an_end(*letters: Letter) -> bool:
    """
    Say whether some alert is over in one of them.

    The older one may be the only word that it began, or that it ended.
    """
    return any(letter.delivery.notification.resolved for letter in letters)
