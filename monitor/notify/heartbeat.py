"""
The dead man's switch: a sign of life to a URL whose owner raises the alarm when it stays away.

It is sent only while everything that an alert needs on its way is at work: scrapes, rules and receivers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from monitor.model.instant import SECOND, Duration, Instant
from monitor.notify.http import Address, HttpOptions
from monitor.notify.secret import Secret

# So often may be missed what should happen at every interval; the rules wait a second for their scrapes.
MISSED = 3
_LEAST: Duration = 3 * SECOND
# What does not answer within this time must not keep a stopping daemon, nor the next sign of life.
TIMEOUT: Duration = 10 * SECOND


class Verdict(StrEnum):
    """Whether there is a sign of life, or why not: a label of a metric."""

    ALIVE = "alive"
    NO_SCRAPES = "no_scrapes"
    NO_EVALUATIONS = "no_evaluations"
    NOT_TELLING = "not_telling"


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Something that should happen at every `interval`; `last` is when it did, None or 0 when it never has."""

    interval: Duration
    last: Instant | None

    def goes_on(self, now: Instant) -> bool:
        return bool(self.last) and now - (self.last or 0) < max(MISSED * self.interval, _LEAST)


def judge(
    scrapes: Iterable[Rhythm],
    evaluations: Iterable[Rhythm],
    failing_since: Instant | None,
    stuck_after: Duration,
    now: Instant,
) -> Verdict:
    """
    Say whether all is well.

    Some target is scraped, whatever it answers; every group of rules is evaluated; and nothing that could not be told
    when it was tried is older than `stuck_after` (`failing_since` None: there is nothing).
    """
    if not any(rhythm.goes_on(now) for rhythm in scrapes):
        return Verdict.NO_SCRAPES
    if not all(rhythm.goes_on(now) for rhythm in evaluations):
        return Verdict.NO_EVALUATIONS
    if failing_since is not None and now - failing_since >= stuck_after:
        return Verdict.NOT_TELLING
    return Verdict.ALIVE


class Heartbeat:
    """Asks for a URL, which is a secret, with GET or POST."""

    def __init__(self, url: Secret, method: str = "GET", *, timeout: Duration = TIMEOUT) -> None:
        self._address = Address(url, HttpOptions(timeout=timeout))
        self._method = method

    def send(self) -> None:
        """Give a sign of life; raises NotifyError."""
        if self._method == "POST":
            self._address.post(b"", {})
        else:
            self._address.get()
