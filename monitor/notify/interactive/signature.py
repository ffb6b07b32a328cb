"""
Whether an HTTP request was signed by Slack, a moment ago, and for the first time.

reference: Slack, verifying requests: `v0=` and the HMAC-SHA256 of `v0:timestamp:body`, good for five minutes.
"""

import threading
from collections.abc import Mapping

from slack_sdk.signature import Clock, SignatureVerifier

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, SECOND, Instant, to_seconds
from monitor.notify.secret import Secret

_TOLERANCE = 5 * MINUTE
# What a flood of signed requests may cost; the oldest is forgotten first.
_MOST_REMEMBERED = 10_000
_SIGNATURE = "x-slack-signature"


class _Fixed(Clock):
    """The instant of the request, for the SDK."""

    def __init__(self, now: Instant) -> None:
        self._seconds = to_seconds(now)

    def now(self) -> float:
        return self._seconds


def is_signed(secret: Secret, body: bytes, headers: Mapping[str, str], now: Instant) -> bool:
    """
    Say whether Slack signed `body` at most five minutes from `now`. Never raises: what cannot be read is not signed.

    The SDK raises ValueError, UnicodeDecodeError or TypeError for what a stranger may send.
    """
    try:
        return SignatureVerifier(secret.get(), _Fixed(now)).is_valid_request(body, dict(headers))
    except (NotifyError, ValueError, TypeError, OverflowError):
        return False


class Seen:
    """Remembers the signatures of the last minutes: within them the SDK takes the same request again and again."""

    def __init__(self) -> None:
        self._seen: dict[str, Instant] = {}
        self._lock = threading.Lock()

    def is_new(self, headers: Mapping[str, str], now: Instant) -> bool:
        """Say whether the signature comes for the first time, and remember it."""
        signature = {name.lower(): value for name, value in headers.items()}.get(_SIGNATURE, "")
        with self._lock:
            # A timestamp may be as far ahead as it may be behind.
            oldest = now - 2 * _TOLERANCE - SECOND
            while self._seen and (len(self._seen) >= _MOST_REMEMBERED or next(iter(self._seen.values())) < oldest):
                del self._seen[next(iter(self._seen))]
            if signature in self._seen:
                return False
            self._seen[signature] = now
            return True
