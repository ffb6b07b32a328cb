"""The one exception of the HTTP API, in its words: a kind and a text."""

from enum import StrEnum
from http import HTTPStatus


class ErrorType(StrEnum):
    """The `errorType` of an answer; `status` is the HTTP status that goes with it."""

    BAD_DATA = "bad_data"
    EXECUTION = "execution"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"

    @property
    def status(self) -> HTTPStatus:
        return _STATUS[self]


# reference: Prometheus 3, web/api/v1/api.go respondError.
_STATUS = {
    ErrorType.BAD_DATA: HTTPStatus.BAD_REQUEST,
    ErrorType.EXECUTION: HTTPStatus.UNPROCESSABLE_ENTITY,
    ErrorType.TIMEOUT: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorType.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorType.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}


class ApiError(Exception):
    """A request that cannot be answered; the message is the `error` of the answer."""

    def __init__(self, message: str, type_: ErrorType = ErrorType.BAD_DATA) -> None:
        super().__init__(message)
        self.type = type_


def invalid(parameter: str, why: object) -> ApiError:
    """Return the error for a parameter that cannot be read."""
    return ApiError(f'invalid parameter "{parameter}": {why}')
