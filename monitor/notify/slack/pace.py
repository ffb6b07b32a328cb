"""
How fast Slack wants to be called: when the next call of a method may be made.

reference: Slack, rate limits: a message a second and channel; chat.update 50 times a minute in the whole workspace.
"""

import threading
from dataclasses import dataclass

from monitor.model.instant import MINUTE, SECOND, Duration, Instant

POST, UPDATE = "chat.postMessage", "chat.update"
# How a channel, and a thread, are looked into.
LOOKS = ("conversations.history", "conversations.replies")
# What may have been done shows a moment later: a look any sooner would find nothing, and it would be done again.
LOOK_AFTER: Duration = 3 * SECOND
# Between two edits of one message: who looks at it wants to read it.
EDITS_APART: Duration = 5 * SECOND
# The same where nothing but numbers has moved.
REFRESHES_APART: Duration = MINUTE


@dataclass(frozen=True, slots=True)
class Rate:
    """One call each `interval`, and `burst` more when nobody called for a while."""

    interval: Duration
    burst: int = 0


# Of edits, burst and all: no more than fifty in any minute.
_RATES = {POST: Rate(SECOND), UPDATE: Rate(MINUTE // 40, burst=9)}


class Pace:
    """
    The budgets of a workspace. Safe to call from any thread; all bots of the workspace share one.

    A budget is kept as the instant up to which it is spent.
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], Instant] = {}
        self._held: dict[str, Instant] = {}
        self._lock = threading.Lock()

    def free_at(self, method: str, channel: str = "") -> Instant:
        """Return when the method may be called; only posting has a budget for each channel."""
        rate = _RATES.get(method)
        with self._lock:
            held = self._held.get(method, 0)
            if rate is None:
                return held
            return max(held, self._spent.get(_key(method, channel), 0) - rate.interval * rate.burst)

    def held_until(self, method: str) -> Instant:
        """Return until when Slack, or doubt, forbids the method; budgets aside."""
        with self._lock:
            return self._held.get(method, 0)

    def spend(self, method: str, channel: str, now: Instant) -> None:
        """The method is called."""
        rate = _RATES.get(method)
        if rate is not None:
            with self._lock:
                key = _key(method, channel)
                self._spent[key] = max(self._spent.get(key, 0), now) + rate.interval

    def hold(self, method: str, until: Instant) -> None:
        """The method is not to be called before `until`: Slack said so, or it is too soon for a look."""
        with self._lock:
            self._held[method] = max(self._held.get(method, 0), until)

    def doubt(self, now: Instant) -> None:
        """Something may have been done: it is too soon to look."""
        for method in LOOKS:
            self.hold(method, now + LOOK_AFTER)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        with self._lock:
            self._spent = {key: at + by for key, at in self._spent.items()}
            self._held = {method: at + by for method, at in self._held.items()}


def _key(method: str, channel: str) -> tuple[str, str]:
    return (method, channel if method == POST else "")
