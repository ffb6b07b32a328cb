"""Twenty servers that live through a long time: recorded pages, and now and then none."""

from dataclasses import dataclass
from random import Random

from monitor.clock import Clock
from monitor.model.instant import HOUR, MINUTE, Duration
from monitor.scrape.errors import Reason, ScrapeError
from monitor.scrape.target import Answer, Fetch
from tests.recorded import Recording

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
# Each server has one bad spell in so long, at a time of its own.
SPELL_EVERY: Duration = 2 * HOUR
SPELL: Duration = 10 * MINUTE


@dataclass(frozen=True)
class Fleet:
    """
    Serves pages as of the time of `clock`.

    In a bad spell a server begins anew and goes through the recorded overload, stretched to fill the spell, or it is
    down. After that nobody asks it anything.
    """

    recording: Recording
    seed: int
    clock: Clock

    def fetch(self, server: int) -> Fetch:
        """Return what scrapes the server of this number; raises ScrapeError while it is down."""

        def page() -> Answer:
            number, within = divmod(self.clock.now() + server * SPELL_EVERY // 20, SPELL_EVERY)
            # As the spells of all days are alike, so is the memory that they take.
            down = Random(f"{self.seed}/{server}/{number % 12}").random() < 0.3  # noqa: S311 - a seeded script
            if within < SPELL and down:
                raise ScrapeError("connection refused", reason=Reason.REFUSED)
            return Answer(self._body(within).encode(), CONTENT_TYPE)

        return page

    def _body(self, within: Duration) -> str:
        begin, end = self.recording.times[0], self.recording.times[-1]
        return self.recording.page(begin + min(within, SPELL) * (end - begin) // SPELL) or ""
