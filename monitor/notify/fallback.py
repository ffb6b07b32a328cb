"""
When what cannot be told to one receiver is told to another as well.

Decided here, done in the lane and the outbox.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from monitor.dispatch.dispatcher import Delivery, Integration
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.notify.letter import Letter

# Long enough for a receiver that restarts, short enough for whoever is asleep.
PATIENCE: Duration = 2 * MINUTE

# Hands a letter to others as well: the letter, why it could not be told, and when.
Divert = Callable[[Letter, str, Instant], None]


@dataclass(frozen=True, slots=True)
class Outage:
    """Nothing has come through to an integration since `since`; `error` is what the last attempt came to."""

    since: Instant
    error: NotifyError

    @property
    def needs_mending(self) -> bool:
        """Whether waiting alone will not end it: a dead token, a channel that is gone."""
        return not self.error.retryable

    def diverts(self, news: Instant, now: Instant) -> bool:
        """Say whether what there has been to say since `news` goes to others by `now`."""
        return self.needs_mending or now - min(self.since, news) >= PATIENCE


@dataclass(slots=True)
class Detour:
    """
    What a lane knows of the way around it: how its integration fares, and of which groups others must hear the end.

    Whoever has heard from others that something began must hear there that it is over, even when the integration is
    back by then. Not safe for threads: the lane has a lock.
    """

    outage: Outage | None = None
    astray: set[str] = field(default_factory=set)

    @property
    def reason(self) -> str:
        return str(self.outage.error) if self.outage is not None else "it could not be told of the beginning"

    def note(self, error: NotifyError | None, now: Instant) -> None:
        """
        Note what an attempt came to.

        That one letter is refused says nothing of the others, but that somebody is there.
        """
        if error is None or error.hopeless:
            self.outage = None
        else:
            self.outage = Outage(self.outage.since if self.outage is not None else now, error)

    def takes(self, letter: Letter, now: Instant) -> bool:
        """Say whether the letter goes to others now; it goes once."""
        if letter.diverted or not letter.is_news:
            return False
        if letter.tells_all_over and letter.group_key in self.astray:
            return True
        return self.outage is not None and self.outage.diverts(letter.since, now)

    def went(self, letter: Letter) -> None:
        """Others have the letter."""
        (self.astray.discard if letter.tells_all_over else self.astray.add)(letter.group_key)

    def recall(self, groups: Iterable[str]) -> None:
        """Others have heard of the beginning of these groups, in an earlier life."""
        self.astray.update(groups)

    def go_on_from(self, other: "Detour") -> None:
        """
        Know what `other` knows, of the same integration before a reload.

        But what needed mending may just have been mended: that is found out anew.
        """
        self.astray |= other.astray
        if self.outage is None and other.outage is not None and not other.outage.needs_mending:
            self.outage = other.outage

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        if self.outage is not None:
            self.outage = replace(self.outage, since=self.outage.since + by)


def copies(delivery: Delivery, to: Sequence[Integration], why: str) -> Iterator[Delivery]:
    """
    Yield the delivery as it goes to the integrations `to`, marked as what it is.

    Their ids come of the delivery's own, so that they are the same whenever they are made.
    """
    told = delivery.notification
    mark = f"{delivery.integration} cannot be told: {why}"
    for integration in to:
        alerts = told.alerts if integration.send_resolved else told.firing
        if alerts:
            receiver, _, _ = integration.name.rpartition("/")
            news = sha256(f"{told.id}\n{integration.name}".encode()).hexdigest()[:32]
            yield Delivery(integration.name, replace(told, receiver=receiver, alerts=alerts, id=news, fallback=mark))
