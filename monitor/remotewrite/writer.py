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
_NO_LIMIT = 2**62
_ALL = (Matcher(METRIC_NAME, MatchType.REGEX, ".+"),)


class Past(Protocol):
    """What is kept."""

    def kept_until(self) -> Instant | None:
        """Return up to when everything is there that there was; None while nobody knows."""
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
        self._refusing = self._ahead = False
        self._lock = threading.Lock()
        self._by: Duration = 0

    @property
    def name(self) -> str:
        return self._remote.name

    def behind(self) -> Duration:
        """Return how much it has not got of what there is."""
        until = self._past.kept_until()
        return 0 if self.position is None or until is None else max(until - self.position, 0)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much, and what is kept moved along; waits for no request that is under way."""
        with self._lock:
            self._by += by

    def follow(self, before: "Writer") -> None:
        """Go on where another one has stopped, which had a request under way when this one was made."""
        before.settle()
        if before.position is not None:
            self.position = before.position

    def step(self, now: Instant) -> Duration:
        """Send one request of what is due, if anything is; returns how long to wait for the next step."""
        self.settle()
        until = self._past.kept_until()
        if until is None:
            return LOOK
        if self.position is None or self._is_ahead(until):
            # Who is new gets what comes, and not five weeks at once.
            self._go_to(until)
        after = self._begin(now)
        if until <= after:
            return LOOK
        until = min(until, after + self._stretch)
        try:
            found = self._past.select(_ALL, after, until, self._most(after, until))
        except TooManySamplesError:
            self._narrow(after, until)
            return 0
        except StateError as err:
            log.error("remote write reads no history", extra={"remote": self._remote.name, "reason": str(err)})
            return MINUTE
        return self._send(found, after, until)

    def settle(self) -> None:
        """Move along with the clock, if it was set."""
        with self._lock:
            by, self._by = self._by, 0
        if by and self.position is not None:
            self._go_to(self.position + by)

    def _is_ahead(self, until: Instant) -> bool:
        """
        Say whether it has what has not been yet: the clock was wrong in the life before.

        Two looks must agree: what is kept moves with the clock a little before the position does.
        """
        assert self.position is not None  # noqa: S101 - looked at by `step`
        ahead = self.position - until > MINUTE
        agreed, self._ahead = ahead and self._ahead, ahead
        if agreed:
            log.warning("remote write begins anew: its position is ahead", extra={"remote": self._remote.name})
        return agreed

    def _begin(self, now: Instant) -> Instant:
        assert self.position is not None  # noqa: S101 - `step` came before
        limit = self._remote.age_limit
        return max(self.position, now - limit) if limit else self.position

    def _most(self, after: Instant, until: Instant) -> int:
        """Return how many samples one request may have; a minute goes in one piece, which is taken or refused."""
        return self._remote.max_samples_per_send if until - after > _SHORTEST else _NO_LIMIT

    def _narrow(self, after: Instant, until: Instant) -> None:
        """Try less at once."""
        self._stretch = max((until - after) // 2, _SHORTEST)

    def _send(self, found: Sequence[Stored], after: Instant, until: Instant) -> Duration:
        series = list(self._written(found))
        samples = sum(len(times) for _, times, _ in series)
        try:
            if series:
                self._post(write_request(series), {**HEADERS, **self._remote.headers})
        except NotifyError as err:
            if not err.hopeless:
                return self._wait(err)
            if until - after > _SHORTEST:
                # Too large, or some of it is there already: a receiver refuses a request as a whole.
                self._narrow(after, until)
                return self._remote.least
            self._refused(err, samples)
        else:
            self._taken(samples)
        self._failures = 0
        self._go_to(until)
        self._stretch = min(self._stretch * 2, _STRETCH)
        return self._remote.least if self._refusing else 0

    def _refused(self, err: NotifyError, samples: int) -> None:
        """Leave samples out, say because they are out of order: they would be refused for ever, and all behind wait."""
        if not self._refusing:
            log.error("remote write refused", extra={"remote": self._remote.name, "reason": str(err)})
        self._refusing = True
        self._counts.failed(self._remote.name, samples, err.reason)

    def _taken(self, samples: int) -> None:
        if not samples:
            return
        self._counts.sent(self._remote.name, samples)
        if self._failures or self._refusing:
            log.info("remote write goes on", extra={"remote": self._remote.name})
        self._refusing = False

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
