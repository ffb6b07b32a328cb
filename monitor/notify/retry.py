"""How long nothing is tried after a failure; the only place that says so."""

from dataclasses import dataclass

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, SECOND, Duration, Instant

FIRST_WAIT: Duration = SECOND
LONGEST_WAIT: Duration = MINUTE
# A dead token or channel may be mended by its owner; until then one knock a minute, whatever waits, and no hammering.
PROBE_WAIT: Duration = MINUTE


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


@dataclass(slots=True)
class Rest:
    """
    Until when a lane makes no attempt at all. Not safe for threads: the lane has a lock.

    `asked` is what the receiver said. `knock_at` is 0, or while something must be mended, when that is found out.
    """

    asked: Instant = 0
    knock_at: Instant = 0

    @property
    def until(self) -> Instant:
        return max(self.asked, self.knock_at)

    def ask(self, until: Instant) -> None:
        """The receiver wants no attempt before `until`."""
        self.asked = max(self.asked, until)

    def note(self, error: NotifyError | None, now: Instant) -> bool:
        """Note what an attempt came to; returns whether what needed mending has been mended."""
        if error is not None:
            self.knock_at = self.knock_at if error.retryable or error.hopeless else now + PROBE_WAIT
            return False
        was_dead, self.knock_at = bool(self.knock_at), 0
        return was_dead

    def hasten(self) -> None:
        """Somebody says that it has been mended."""
        self.knock_at = 0

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self.asked += by
        self.knock_at += by if self.knock_at else 0
