"""Silences: what somebody has said not to be told of, for a while."""

import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from monitor.model.instant import HOUR, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher

# How long an expired silence is still shown (Alertmanager's data retention).
RETENTION: Duration = 120 * HOUR
# Expired ones count, as for Alertmanager's --silences.max-silences and --silences.max-silence-size-bytes.
MOST_SILENCES = 5_000
LARGEST_SILENCE_BYTES = 16 << 10
# Two values that nothing but a matcher that takes any value is likely to accept both.
_ANYTHING = ("a", "Z 0.1:é")


class SilenceState(StrEnum):
    ACTIVE = "active"
    PENDING = "pending"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Silence:
    """Mutes the alerts that all `matchers` accept from `starts_at` until before `ends_at`."""

    id: str
    matchers: tuple[Matcher, ...]
    starts_at: Instant
    ends_at: Instant
    created_by: str
    comment: str
    updated_at: Instant = 0

    def state(self, now: Instant) -> SilenceState:
        if now < self.starts_at:
            return SilenceState.PENDING
        return SilenceState.ACTIVE if now < self.ends_at else SilenceState.EXPIRED

    def matches(self, labels: Labels) -> bool:
        return all(matcher.accepts(labels) for matcher in self.matchers)


class SilenceError(ValueError):
    """A silence cannot be set; the message is for whoever wants it."""


class SilenceNotFoundError(SilenceError):
    """There is no silence of that id."""

    def __init__(self) -> None:
        super().__init__("silence not found")


class SilenceSizeError(SilenceError):
    """A silence is too large to keep."""


class SilencesLimitError(SilenceError):
    """There are too many silences for another one."""


class SilenceKeeper(Protocol):
    """Keeps silences beyond the life of the process."""

    def keep(self, silence: Silence) -> None: ...

    def drop(self, silence_id: str) -> None: ...


class Silences:
    """
    All silences that are not forgotten. Safe to call from any thread; readers never wait for the keeper.

    reference: Alertmanager, silence/silence.go.
    """

    def __init__(
        self,
        silences: Iterable[Silence] = (),
        keeper: SilenceKeeper | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        # Replaced whole and never changed, so that it is read without the lock.
        self._silences = {silence.id: silence for silence in silences}
        self._keeper = keeper
        self._new_id = new_id
        # One writer at a time, its writing included: the file must not end up with the older of two words.
        self._writing = threading.Lock()

    def set(self, silence: Silence, now: Instant) -> Silence:
        """
        Set a new silence (its id is "") or change one; returns what is in force now.

        A change that would rewrite what was silenced until now ends the old silence and begins another one, with
        another id. Raises SilenceError.
        """
        _validate(silence)
        self.forget(now)
        with self._writing:
            old = self._silences.get(silence.id)
            if silence.id and old is None:
                raise SilenceNotFoundError
            if old is not None and _may_become(old, silence, now):
                return self._keep(replace(silence, updated_at=now))
            if len(self._silences) >= MOST_SILENCES:
                count = len(self._silences) + 1
                raise SilencesLimitError(f"exceeded maximum number of silences: {count} (limit: {MOST_SILENCES})")
            if old is not None and old.state(now) is not SilenceState.EXPIRED:
                self._keep(_expired(old, now))
            starts_at = max(silence.starts_at, now)
            return self._keep(replace(silence, id=self._new_id(), starts_at=starts_at, updated_at=now))

    def expire(self, silence_id: str, now: Instant) -> None:
        """End a silence; one that has ended stays as it is. Raises SilenceNotFoundError."""
        with self._writing:
            silence = self._silences.get(silence_id)
            if silence is None:
                raise SilenceNotFoundError
            if silence.state(now) is not SilenceState.EXPIRED:
                self._keep(_expired(silence, now))

    def get(self, silence_id: str) -> Silence | None:
        return self._silences.get(silence_id)

    def all(self, now: Instant) -> list[Silence]:
        return [silence for silence in self._silences.values() if not _is_forgotten(silence, now)]

    def silencing(self, labels: Labels, now: Instant) -> list[str]:
        """Return the ids of the active silences that match an alert with `labels`."""
        return [
            silence.id
            for silence in self._silences.values()
            if silence.starts_at <= now < silence.ends_at and silence.matches(labels)
        ]

    def forget(self, now: Instant) -> None:
        """Drop the silences that expired more than RETENTION ago."""
        with self._writing:
            old = [silence.id for silence in self._silences.values() if _is_forgotten(silence, now)]
            if old:
                self._silences = {name: silence for name, silence in self._silences.items() if name not in old}
            if self._keeper is not None:
                for silence_id in old:
                    self._keeper.drop(silence_id)

    def _keep(self, silence: Silence) -> Silence:
        self._silences = {**self._silences, silence.id: silence}
        if self._keeper is not None:
            self._keeper.keep(silence)
        return silence


def _is_forgotten(silence: Silence, now: Instant) -> bool:
    return silence.ends_at + RETENTION <= now


def _validate(silence: Silence) -> None:
    """Raise SilenceError when the silence makes no sense, or would mute everything."""
    if not silence.matchers:
        raise SilenceError("invalid silence: at least one matcher required")
    for number, matcher in enumerate(silence.matchers):
        if not matcher.name:
            raise SilenceError(f'invalid silence: invalid label matcher {number}: invalid label name ""')
    if all(not matcher.type.is_negative and matcher.matches("") for matcher in silence.matchers):
        raise SilenceError("invalid silence: at least one matcher must not match the empty string")
    if all(_takes_anything(matcher) for matcher in silence.matchers):
        raise SilenceError("invalid silence: it would match every alert that has these labels, whatever their values")
    if silence.ends_at < silence.starts_at:
        raise SilenceError("invalid silence: end time must not be before start time")
    size = sum(len(text.encode()) for text in (silence.comment, silence.created_by, *map(str, silence.matchers)))
    if size > LARGEST_SILENCE_BYTES:
        raise SilenceSizeError(f"exceeded maximum size: {size} bytes (limit: {LARGEST_SILENCE_BYTES} bytes)")


def _takes_anything(matcher: Matcher) -> bool:
    """Say whether every value will do (`=~".+"`, `!=""`, and what takes the empty one as well)."""
    allows_missing = matcher.matches("")
    if allows_missing and matcher.type.is_negative:
        # All but some: that is something.
        return False
    return allows_missing or all(matcher.matches(value) for value in _ANYTHING)


def _may_become(old: Silence, new: Silence, now: Instant) -> bool:
    """Say whether `old` may be changed to `new` without another past."""
    if old.matchers != new.matchers:
        return False
    state = old.state(now)
    if state is SilenceState.ACTIVE:
        return old.starts_at // SECOND == new.starts_at // SECOND and new.ends_at >= now
    return state is SilenceState.PENDING and new.starts_at >= now


def _expired(silence: Silence, now: Instant) -> Silence:
    """Return the silence as it is when it ends now; one that had not begun never will."""
    return replace(silence, starts_at=min(silence.starts_at, now), ends_at=now, updated_at=now)
