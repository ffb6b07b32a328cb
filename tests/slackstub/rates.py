"""
How often Slack lets itself be called: what it would refuse is noted, and refused where a test wants that.

reference: Slack, rate limits: tiers of calls a minute and method; a message a second and channel, with a short burst.
"""

import threading
from dataclasses import dataclass, field
from math import ceil

TIERS = {1: 1, 2: 20, 3: 50, 4: 100}
METHODS = {
    **dict.fromkeys(("chat.update", "chat.delete", "reactions.add", "conversations.history"), 3),
    **dict.fromkeys(("conversations.replies", "conversations.info", "apps.connections.open"), 3),
    **dict.fromkeys(("chat.postEphemeral", "files.info"), 4),
    **dict.fromkeys(("files.getUploadURLExternal", "files.completeUploadExternal"), 4),
    "reactions.remove": 2,
}
_POSTS = ("chat.postMessage", "webhook")
_MINUTE = 60.0
BURST = 3
# Who only observes sees when a call arrives: behind two that were held up, the next ones come that much too close.
_UNPUNCTUAL = 2.0


@dataclass
class Rates:
    """
    The budgets of a workspace, all in seconds of its clock; `enforced`: what exceeds them is refused.

    Posting, by the Web API and by webhook together, is counted by channel: one message a second, and `burst` more.
    """

    enforced: bool = False
    burst: int = BURST
    # What was called too often, with the second in which it was.
    violations: list[tuple[str, float]] = field(default_factory=list)
    _calls: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _resting: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, method: str, channel: str, now: float) -> int:
        """Count a call; returns after how many whole seconds it may be made instead, 0 when it may be made now."""
        key = ("post", channel) if method in _POSTS else (method, "")
        most, window = (1 + self.burst, 1.0 + self.burst) if method in _POSTS else (_most(method), _MINUTE)
        with self._lock:
            rest = self._resting.get(method, now) - now
            recent = [at for at in self._calls.get(key, ()) if now - at < window]
            wait = max(rest, recent[-most] + window - now if len(recent) >= most else 0.0)
            if wait <= (_UNPUNCTUAL if method in _POSTS and not self.enforced else 0.0):
                self._calls[key] = [*recent, now]
                return 0
            self.violations.append((method, now))
            if not self.enforced:
                self._calls[key] = [*recent, now]
                return 0
            # Until then the method is refused for the whole workspace.
            self._resting[method] = now + ceil(wait)
            return ceil(wait)


def _most(method: str) -> int:
    """Return how many calls a minute; of what has no tier, as many as anybody likes."""
    return TIERS[METHODS[method]] if method in METHODS else 1_000_000
