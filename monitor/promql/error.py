"""The one exception of this edge."""

from enum import StrEnum


class ErrorKind(StrEnum):
    """What went wrong, in the words of the Prometheus HTTP API (`errorType`)."""

    BAD_DATA = "bad_data"
    EXECUTION = "execution"
    TIMEOUT = "timeout"


class PromqlError(Exception):
    """
    An expression cannot be understood, is refused, or failed while it was evaluated.

    `position` is `(line, column)` inside the expression, both from 1, where it is known.
    """

    def __init__(
        self, message: str, *, kind: ErrorKind = ErrorKind.EXECUTION, position: tuple[int, int] | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.position = position

    def __str__(self) -> str:
        """Return the message, with the place in front where it is known, as Prometheus words a parse error."""
        message = str(self.args[0])
        if self.position is None:
            return message
        line, column = self.position
        return f"{line}:{column}: {message}"


def refused(message: str, position: tuple[int, int] | None = None) -> PromqlError:
    """Return the error for an expression that is wrong, or right but not supported."""
    return PromqlError(message, kind=ErrorKind.BAD_DATA, position=position)
