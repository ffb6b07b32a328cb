"""The letters to one integration, in order, and the only place that tries again; `retry` says when."""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from monitor.dispatch.nflog import LogKey
from monitor.dispatch.notification import Notification, Notifier, NotifyError
from monitor.model.instant import Duration, Instant
from monitor.notify.fallback import Detour, Divert
from monitor.notify.letter import Attempt, DeadLetter, Ledger, Letter
from monitor.notify.retry import Rest, wait_after
from monitor.notify.teller import Teller

log = logging.getLogger(__name__)


class Lane:
    """
    Letters are put in from any thread, and delivered from one thread at a time.

    The letters of one group keep their order, so that nobody hears of an end before the beginning. While the receiver
    cannot be told, a newer word takes the place of the older one, unless one of them says that an alert is over: people
    need the present state, and nothing that began may seem to last for ever. An Editor shows the present state anyhow:
    to it a newer word always takes the place of the older one.

    Of the groups that may be told now, the worst comes first. With `divert`, what cannot be told here goes to others as
    well, and waits here all the same.
    """

    def __init__(
        self,
        notifier: Notifier,
        report: Callable[[Attempt], None],
        chance: Callable[[], float],
        ledger: Ledger,
        divert: Divert | None = None,
    ) -> None:
        self._teller = Teller(notifier)
        self._report = report
        self._chance = chance
        self._ledger = ledger
        self._divert = divert
        self._detour = Detour()
        self._letters: list[Letter] = []
        self._rest = Rest()
        self._moved: Duration = 0
        self._under_way: Letter | None = None
        self._successor: Lane | None = None
        # Groups of which a lane before this one still tells something: what follows must wait for its end.
        self._held: set[LogKey] = set()
        # Also held by whoever waits for a letter to come.
        self.changed = threading.Condition(threading.RLock())

    def put(self, letter: Letter) -> None:
        with self.changed:
            successor = self._successor
            older = self._enter(letter) if successor is None else None
        if successor is not None:
            # An attempt that began before a reload may still send its letter around by the lanes of that time.
            successor.put(letter)
            return
        if older is not None:
            self._ledger.settle(older.id)
        self.send_around(letter.not_before)

    def _enter(self, letter: Letter) -> Letter | None:
        """Let the letter wait; returns the one whose place it takes."""
        older = next((one for one in reversed(self._letters) if one.delivery.key == letter.delivery.key), None)
        if older is None or older is self._under_way or (not self._teller.edits and _tells_an_end(older, letter)):
            older = None
        else:
            self._letters.remove(older)
            # News is worth a knock at once, but it does not make the receiver any healthier.
            attempts, since = letter.attempts + older.attempts, min(letter.since, older.since)
            letter = replace(letter, attempts=attempts, since=since, error=older.error).as_news_like(older)
        self._letters.append(letter)
        self.changed.notify()
        return older

    def next_due(self) -> Instant | None:
        """Return when the next attempt may be made, or None when the lane is empty."""
        with self.changed:
            earliest = min((self._teller.ready_at(letter) for letter in self._heads()), default=None)
            return None if earliest is None else max(earliest, self._rest.until)

    def waiting(self) -> int:
        """Return how many letters have yet to be told; what only brings numbers up to date counts when it fails."""
        with self.changed:
            return sum(bool(letter.error) or self._teller.is_untold(letter) for letter in self._letters)

    def letters(self) -> list[Letter]:
        """Return what waits, the oldest first."""
        with self.changed:
            return list(self._letters)

    def hasten(self, ids: Collection[str], now: Instant) -> int:
        """Let these wait no longer, unless the receiver asked for it; returns how many of them wait here."""
        with self.changed:
            here = sum(letter.id in ids for letter in self._letters)
            if here:
                self._rest.hasten()
            self._change(lambda one: replace(one, not_before=min(one.not_before, now)) if one.id in ids else one)
            self.changed.notify()
            return here

    def recall(self, groups: Iterable[str]) -> None:
        """Others have heard of the beginning of these groups, in an earlier life."""
        with self.changed:
            self._detour.recall(groups)

    def failing_since(self) -> Instant | None:
        """Return since when there is something that could not be told when it was tried, or None when there is not."""
        with self.changed:
            return min((one.since for one in self._letters if one.attempts), default=None)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: what waits, waits no longer and no shorter for it."""
        with self.changed:
            self._change(lambda one: one.shifted(by))
            self._detour.shift(by)
            self._rest.shift(by)
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
                successor.go_on_from(self._detour)
            waiting = [letter for letter in self._letters if letter is not self._under_way]
            self._letters = [letter for letter in self._letters if letter is self._under_way]
            quiet_until = self._rest.asked
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
            due = [one for one in self._heads() if self._teller.ready_at(one) <= now]
            if not due or now < self._rest.until:
                return False
            letter = min(due, key=lambda one: one.urgency)
            waiting = [
                one.delivery.notification for one in self._heads() if one is not letter and one.not_before <= now
            ]
            self._under_way = letter
            moved = self._moved
        error, done = self._attempt(letter, waiting)
        with self.changed:
            letter = self._under_way or letter
            self._under_way = None
            self._letters.remove(letter)
            # The clock may have been set during the attempt.
            now += self._moved - moved
            self.note(error, now)
            if self._rest.note(error, now):
                # What waited for the mending waits no longer.
                self._change(lambda one: replace(one, not_before=min(one.not_before, now)))
            if error is not None and not done:
                self._keep(letter, error, now)
            elif not done:
                done = self._put_again(letter)
            if self._successor is not None:
                self._successor.release(letter.delivery.key)
        if error is None and done:
            self._ledger.settle(letter.id)
        elif error is not None and done:
            self._bury(letter, error, now)
        else:
            self.send_around(now)
        self._report(Attempt(letter.delivery, error, letter.attempts + 1, is_first=not letter.error))
        return True

    def _heads(self) -> list[Letter]:
        """Return the first letter of each group, the only ones that may go out."""
        # An Editor's attempt in an earlier lane may be at any of its messages: at that of a digest, say.
        if self._held and self._teller.edits:
            return []
        heads: dict[tuple[str, str], Letter] = {}
        for letter in self._letters:
            heads.setdefault(letter.delivery.key, letter)
        return [letter for key, letter in heads.items() if key not in self._held]

    def _attempt(self, letter: Letter, waiting: Sequence[Notification]) -> tuple[NotifyError | None, bool]:
        self._ledger.attempt(letter.id)
        return self._teller.tell(letter, waiting)

    def _put_again(self, letter: Letter) -> bool:
        """Let there be more to say of a letter later; returns whether a newer one says it already."""
        if any(one.delivery.key == letter.delivery.key for one in self._letters):
            return True
        self.put_first(letter)
        return False

    def _keep(self, letter: Letter, error: NotifyError, now: Instant) -> None:
        attempts = letter.attempts + 1
        wait = wait_after(error, attempts, self._chance())
        again = replace(letter, not_before=now + wait, attempts=attempts, error=str(error))
        # An Editor knows itself which of its methods must rest.
        if error.retry_after is not None and not self._teller.edits:
            self.keep_quiet(now + error.retry_after)
        self.put_first(again)

    def _bury(self, letter: Letter, error: NotifyError, now: Instant) -> None:
        if self._divert is not None and not letter.diverted:
            self._divert(letter, str(error), now)
        self._ledger.bury(DeadLetter(letter.delivery, letter.attempts + 1, str(error), now))

    def note(self, error: NotifyError | None, now: Instant) -> None:
        """Note what an attempt came to, here or in the lane before."""
        with self.changed:
            self._detour.note(error, now)
            if self._successor is not None:
                self._successor.note(error, now)

    def send_around(self, now: Instant) -> None:
        """Let others have what cannot be told here, and the end of what they were told of."""
        if self._successor is not None:
            self._successor.send_around(now)
            return
        if self._divert is None:
            return
        with self.changed:
            going = [letter for letter in self._letters if self._detour.takes(letter, now)]
            ids = {letter.id for letter in going}
            self._change(lambda one: replace(one, diverted=True) if one.id in ids else one)
            for letter in going:
                self._detour.went(letter)
            reason = self._detour.reason
        for letter in going:
            self._divert(letter, reason, now)

    def _change(self, change: Callable[[Letter], Letter]) -> None:
        """Put in the place of each letter what `change` makes of it."""
        changed = {id(one): change(one) for one in self._letters}
        self._under_way = changed.get(id(self._under_way), self._under_way) if self._under_way else None
        self._letters = [changed[id(one)] for one in self._letters]

    def go_on_from(self, detour: Detour) -> None:
        """Know what an earlier lane knew of the way around it."""
        with self.changed:
            self._detour.go_on_from(detour)

    def keep_quiet(self, until: Instant) -> None:
        """Make no attempt before `until`."""
        with self.changed:
            self._rest.ask(until)
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

    def revive(self, letter: Letter) -> None:
        """Take a letter that was given up, before all that wait; one that was overtaken since has nothing to say."""
        if self._teller.is_overtaken(letter):
            self._ledger.settle(letter.id)
        else:
            self.put_first(letter)

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
