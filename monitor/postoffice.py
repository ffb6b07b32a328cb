"""The letters of a daemon at work: what waits, what was given up, and another try for either."""

from collections.abc import Collection
from dataclasses import dataclass

from monitor.clock import Clock
from monitor.journal import Journal
from monitor.notify.letter import DeadLetter, Letter
from monitor.notify.outbox import Outbox


@dataclass(frozen=True)
class PostOffice:
    """The outbox, and the state file behind it. Safe to use from any thread; what reads the file raises StateError."""

    outbox: Outbox
    journal: Journal
    clock: Clock

    def waiting(self) -> list[Letter]:
        """Return what waits, the oldest news first."""
        letters = (letter for lane in self.outbox.letters().values() for letter in lane)
        return sorted(letters, key=lambda letter: letter.since)

    def dead(self) -> list[DeadLetter]:
        """Return what was given up within the last days, the newest first."""
        return self.journal.dead_letters(self.clock.now())

    def retry(self, ids: Collection[str]) -> list[str]:
        """Try these letters again now; returns the ids of those that can be. A receiver's Retry-After is obeyed."""
        now = self.clock.now()
        found = [letter.id for letter in self.waiting() if letter.id in ids]
        self.outbox.hasten(found, now)
        for dead in self.dead():
            told = dead.delivery
            if told.notification.id in ids and self.outbox.has(told.integration):
                # In the file first: a kill in between may not lose it.
                self.journal.raise_dead(dead)
                self.outbox.put_again(told, now)
                found.append(told.notification.id)
        return found
