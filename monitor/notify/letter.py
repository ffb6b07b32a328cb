"""A delivery on its way through a lane, what becomes of it, and who keeps it meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import NotifyError, Reason
from monitor.model.instant import Duration, Instant
from monitor.notify.severity import LEAST_URGENT, urgency


@dataclass(frozen=True, slots=True)
class Letter:
    """
    A delivery that waits; `not_before` is when its next attempt may be made.

    `since` is when there was first something to tell of its group that has not been told. `error` is what the last
    attempt came to, "" when this life has made none. `diverted`: the fallback receiver has it as well.
    """

    delivery: Delivery
    not_before: Instant
    attempts: int = 0
    since: Instant = 0
    error: str = ""
    diverted: bool = False

    @property
    def id(self) -> str:
        return self.delivery.notification.id

    @property
    def group_key(self) -> str:
        return self.delivery.notification.group_key

    @property
    def tells_all_over(self) -> bool:
        """Whether nothing of its group fires any more."""
        return self.delivery.notification.is_resolved

    @property
    def is_news(self) -> bool:
        """Whether it says more than how the numbers have moved."""
        return self.delivery.notification.reason is not Reason.REFRESH

    def as_news_like(self, older: "Letter") -> "Letter":
        """Return the letter that takes the place of `older`, whose news it has to tell as well."""
        if self.is_news or not older.is_news:
            return self
        told = replace(self.delivery.notification, reason=older.delivery.notification.reason)
        return replace(self, delivery=replace(self.delivery, notification=told), diverted=older.diverted)

    def shifted(self, by: Duration) -> "Letter":
        """Return the letter with all its dates moved, those of what it tells among them."""
        delivery = replace(self.delivery, notification=self.delivery.notification.shifted(by))
        return replace(self, delivery=delivery, not_before=self.not_before + by, since=self.since + by)

    @property
    def urgency(self) -> int:
        """0 is told first: what is critical before what is not, and what fires before what is over."""
        told = self.delivery.notification
        return urgency(told.alerts, told.now) if self.is_news else LEAST_URGENT


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one attempt to deliver; `error` is None when it went well. `is_first`: the first of this life."""

    delivery: Delivery
    error: NotifyError | None
    attempts: int
    is_first: bool = True


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that was given up at `at`: after so many attempts, the receiver had refused it for what it is."""

    delivery: Delivery
    attempts: int
    error: str
    at: Instant


class Ledger(Protocol):
    """Keeps letters beyond the life of the process; a letter is entered before it comes to a lane. Never raises."""

    def attempt(self, letter: str) -> None:
        """An attempt to deliver the letter begins."""
        ...

    def settle(self, letter: str) -> None:
        """The letter needs no attempt any more."""
        ...

    def bury(self, dead: DeadLetter) -> None:
        """The letter is given up, and kept aside."""
        ...

    def divert(self, delivery: Delivery, copies: Sequence[Delivery], now: Instant) -> None:
        """The letter goes to others as well: the copies, which are entered with this."""
        ...


class NoLedger:
    """For replays, which no restart interrupts."""

    def attempt(self, letter: str) -> None:
        """Nothing is kept."""

    def settle(self, letter: str) -> None:
        """Nothing is kept."""

    def bury(self, dead: DeadLetter) -> None:
        """Nothing is kept."""

    def divert(self, delivery: Delivery, copies: Sequence[Delivery], now: Instant) -> None:
        """Nothing is kept."""
