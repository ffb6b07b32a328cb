"""How far the clock of Prometheus is from ours, told by the dates of its answers."""

from collections.abc import Callable

from monitor.clock import Clock
from monitor.model.instant import SECOND, Duration, Instant

# A date is a whole second, and the answer was on its way for a while: less is no difference.
TOLERANCE: Duration = 2 * SECOND
_CUT_OFF: Duration = SECOND // 2
# The middle one of so many: one slow answer is no difference either.
_REMEMBERED = 9


class ClockOffset:
    """
    Hears the dates. Any thread may call it.

    Samples carry the time of Prometheus. Asked for a time that is minutes ahead of it, it finds nothing, and every
    alert would end. `boot` is a clock that nobody sets: what was heard before ours was set stays true.
    """

    def __init__(self, clock: Clock, boot: Callable[[], Duration]) -> None:
        self._clock = clock
        self._boot = boot
        # How far Prometheus is ahead of `boot`.
        self._seen: tuple[Duration, ...] = ()

    def dated(self, at: Instant) -> None:
        """An answer came that says it is `at`."""
        self._seen = (*self._seen, at + _CUT_OFF - self._boot())[-_REMEMBERED:]

    def offset(self) -> Duration:
        """Return how far Prometheus is ahead of us, in milliseconds; 0 when that may be chance."""
        seen = sorted(self._seen)
        if not seen:
            return 0
        found = seen[len(seen) // 2] + self._boot() - self._clock.now()
        return found if abs(found) >= TOLERANCE else 0
