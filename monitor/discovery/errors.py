"""The exception of this part."""

from enum import StrEnum


class Reason(StrEnum):
    """Why nothing new was found; the label of a metric."""

    FILE = "file"
    CONTENT = "content"
    LOOKUP = "lookup"
    REQUEST = "request"
    STATUS = "status"
    FORBIDDEN = "forbidden"
    INTERNAL = "internal"


class DiscoveryError(Exception):
    """Something was not found out; what was found before stays. The message holds no secret."""

    def __init__(self, message: str, *, reason: Reason) -> None:
        super().__init__(message)
        self.reason = reason
