"""One receiver of remote write: what it has got up to now, and what it gets next."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import random
from typing import Protocol

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import EMPTY, METRIC_NAME, Labels
from monitor.model.matcher import Matcher, MatchType
from monitor.model.relabel import RelabelConfig, relabelled
from monitor.remotewrite.encode import HEADERS, Series, write_request
from monitor.storage.db import StateError
from monitor.storage.history.reading import Stored, TooManySamplesError

log = logging.getLogger(__name__)

# How often is looked whether there is more: a minute is in the history a minute after its end.
LOOK: Duration = 5 * SECOND
# So much is caught up at once; less when it is more than one request may hold.
_STRETCH: Duration = HOUR
_SHORTEST: Duration = MINUTE
_ALL = (Matcher(METRIC_NAME, MatchType.REGEX, ".+"),)


class Past(Protocol):
    """What is kept."""

    def kept_until(self, now: Instant) -> Instant:
        """Return up to when everything is there that there was."""
        ...

    def select(self, matchers: Sequence[Matcher], after: Instant, until: Instant, most: int) -> Sequence[Stored]:
        """Return the samples in `(after, until]`; raises StateError, and TooManySamplesError above `most`."""
        ...


class Post(Protocol):
    """Raises NotifyError."""

    def __call__(self, body: bytes, headers: dict[str, str], /) -> object: ...


class Counts(Protocol):
    """Hears of samples by receiver."""

    def sent(self, name: str, samples: int) -> None: ...
    def failed(self, name: str, samples: int, reason: str) -> None: ...
    def retried(self, name: str, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Remote:
    """
    How a receiver is written to. `age_limit` 0 is none: what waited longer is left out.

    `least` and `most` are the waits after a failure; the receiver's own word is obeyed.
    """

    name: str
    external_labels: Labels = EMPTY
    write_relabel_configs: tuple[RelabelConfig, ...] = ()
    max_samples_per_send: int = 2000
    age_limit: Duration = 0
    least: Duration = 30
    most: Duration = 5 * SECOND
    headers: dict[str, str] = field(default_factory=dict, repr=False)


class Writer:
    """
    Writes to one receiver, in the order of time. `position` is up to when it has everything; None is nobody knows.

    One thread calls `step`; `noted` is handed each new position.
    """

    def __init__(
        self,
        remote: Remote,
        past: Past,
        post: Post,
        counts: Counts,
        noted: Callable[[Instant], None],
        position: Instant | None = None,
    ) -> None:
        self.position = position
        self._remote = remote
        self._past = past
        self._post = post
        self._counts = counts
        self._noted = noted
        self._stretch = _STRETCH
        self._failures = 0
        self._lock = threading.Lock()
        self._by: Duration = 0

    @property
    def name(self) -> str:
        return self._remote.name

    def behind(self, now: Instant) -> Duration:
        """Return how much it has not got of what there is."""
        return 0 if self.position is None else max(self._past.kept_until(now) - self.position, 0)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much, and what is kept moved along; waits for no request that is under way."""
        with self._lock:
            self._by += by

    def step(self, now: Instant) -> Duration:
        """Send one request of what is due, if anything is; returns how long to wait for the next step."""
        self._move()
        until = self._past.kept_until(now)
        if self.position is None:
            # Who is new gets what comes, and not five weeks at once.
            self._go_to(until)
        after = self._begin(now)
        if until <= after:
            return LOOK
        until = min(until, after + self._stretch)
        try:
            found = self._past.select(_ALL, after, until, self._remote.max_samples_per_send)
        except TooManySamplesError:
            return self._narrow(after, until)
        except StateError as err:
            log.error("remote write reads no history", extra={"remote": self._remote.name, "reason": str(err)})
            return MINUTE
        return self._send(found, until)

    def _move(self) -> None:
        with self._lock:
            by, self._by = self._by, 0
        if by and self.position is not None:
            self._go_to(self.position + by)

    def _begin(self, now: Instant) -> Instant:
        assert self.position is not None  # noqa: S101 - `step` came before
        limit = self._remote.age_limit
        return max(self.position, now - limit) if limit else self.position

    def _narrow(self, after: Instant, until: Instant) -> Duration:
        """Try less at once; a minute that is too much goes in one piece: a receiver takes or refuses it."""
        if until - after > _SHORTEST:
            self._stretch = max((until - after) // 2, _SHORTEST)
            return 0
        return self._send(self._past.select(_ALL, after, until, 2**62), until)

    def _send(self, found: Sequence[Stored], until: Instant) -> Duration:
        series = list(self._written(found))
        samples = sum(len(times) for _, times, _ in series)
        try:
            if series:
                self._post(write_request(series), {**HEADERS, **self._remote.headers})
        except NotifyError as err:
            if not err.hopeless:
                return self._wait(err)
            # A refusal of these samples, say as out of order: they would be refused for ever, and all behind them wait.
            log.error("remote write refused", extra={"remote": self._remote.name, "reason": str(err)})
            self._counts.failed(self._remote.name, samples, err.reason)
        else:
            self._counts.sent(self._remote.name, samples)
            if self._failures:
                log.info("remote write goes on", extra={"remote": self._remote.name})
        self._failures = 0
        self._go_to(until)
        self._stretch = min(self._stretch * 2, _STRETCH)
        return 0

    def _wait(self, err: NotifyError) -> Duration:
        self._counts.retried(self._remote.name, err.reason)
        if not self._failures:
            log.warning("remote write waits", extra={"remote": self._remote.name, "reason": str(err)})
        self._failures += 1
        if err.retry_after is not None:
            return err.retry_after
        if not err.retryable:
            # Somebody must mend the address or the password; what waits is kept.
            return MINUTE
        longest = min(self._remote.most, self._remote.least << min(self._failures - 1, 16))
        return max(round(longest * (0.5 + random() / 2)), 1)  # noqa: S311 - spreads, and hides nothing

    def _go_to(self, position: Instant) -> None:
        self.position = position
        self._noted(position)

    def _written(self, found: Sequence[Stored]) -> "list[Series]":
        series: list[Series] = []
        for stored in found:
            whole = Labels.of({**self._remote.external_labels.as_dict(), **stored.labels.as_dict()})
            labels = relabelled(whole, self._remote.write_relabel_configs)
            if labels:
                times, values = stored.samples
                series.append((labels, times, values))
        return series
