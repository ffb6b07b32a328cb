"""Several daemons over one folder, of which one tells and the others stand by: `ha`, a word of our own."""

from collections.abc import Iterator

from monitor.config.fields import PositiveDuration
from monitor.model.instant import SECOND
from monitor.yamldoc.section import Section

LEASE = 15 * SECOND
SHORTEST = SECOND
TOO_SHORT = "a lease must be 1s at least: a busy machine must not look like a dead one"


class HaConfig(Section):
    """The others wait for `lease`, in milliseconds, when the active one lives and gives no sign of it."""

    lease: PositiveDuration = LEASE

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.lease < SHORTEST:
            yield "lease", TOO_SHORT
