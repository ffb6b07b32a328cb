"""Why a notification was not delivered, and what that means for the next attempt: the same for all receivers."""

import socket
import ssl
from enum import StrEnum
from math import isfinite

from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, Duration, from_seconds

_LONGEST_WAIT: Duration = 5 * MINUTE


class Reason(StrEnum):
    """Why a message was not delivered: a label of a metric."""

    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"
    AMBIGUOUS = "ambiguous"
    MESSAGE = "message"
    DESTINATION = "destination"
    CREDENTIAL = "credential"
    REDIRECT = "redirect"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether the same message may be taken at another time, without anybody mending anything."""
        return self not in (Reason.MESSAGE, Reason.DESTINATION, Reason.CREDENTIAL)

    @property
    def may_be_done(self) -> bool:
        """Whether the message may stand in the channel although no good answer came."""
        return self in (Reason.AMBIGUOUS, Reason.UNKNOWN)


def failure(reason: Reason, message: str, retry_after: Duration | None = None) -> NotifyError:
    return NotifyError(
        message,
        reason=reason,
        retryable=reason.retryable,
        retry_after=retry_after,
        doubtful=reason.may_be_done,
        hopeless=reason is Reason.MESSAGE,
    )


def wait(retry_after: str | None) -> Duration | None:
    """Return the milliseconds of a Retry-After header, at most five minutes; None when it is missing or no number."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    if not isfinite(seconds) or seconds < 0:
        return None
    return min(max(from_seconds(seconds), 1), _LONGEST_WAIT)


def cause(reason: object) -> str:
    """Return why a connection came to nothing, in words that name no address."""
    if isinstance(reason, ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if isinstance(reason, ssl.SSLError):
        return "TLS failed"
    if isinstance(reason, socket.gaierror):
        return "its name is not known"
    if isinstance(reason, TimeoutError):
        return "no connection in time"
    return type(reason).__name__
