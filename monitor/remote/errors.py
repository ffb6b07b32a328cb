"""The one exception of this edge."""

from enum import StrEnum


class Reason(StrEnum):
    """Why there is no answer: a label of a metric."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    CREDENTIALS = "credentials"
    STATUS = "status"
    NOT_PROMETHEUS = "not_prometheus"
    TOO_LARGE = "too_large"
    # The server has understood, and refuses this one question.
    REFUSED = "refused"


class RemoteError(Exception):
    """
    The server gave no answer, or refused the question. The message names no secret.

    `kind` is the server's own word for what it refuses (`errorType`).
    """

    def __init__(self, message: str, *, reason: Reason, kind: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.kind = kind
        self.retryable = retryable

    @property
    def is_outage(self) -> bool:
        """Whether it says something of the server, and not of the question."""
        return self.reason is not Reason.REFUSED
