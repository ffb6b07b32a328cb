"""
The fields of a JSON body, read into values; what is wrong is worded as Alertmanager words it.

reference: Alertmanager 0.33, api/v2/openapi.yaml and go-openapi.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from monitor.model.instant import Instant, from_seconds

# The codes of go-openapi.
REQUIRED = 602
TOO_FEW = 612
WRONG_TYPE = 601
UNPROCESSABLE = 422
_BAD_REQUEST = 400
# The last day that can be written, less one for zones.
_LATEST: Instant = from_seconds(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


class BodyError(Exception):
    """A request that is not even of the right form; `code` is go-openapi's, `status` that of the response."""

    def __init__(self, message: str, code: int = _BAD_REQUEST, status: int = _BAD_REQUEST) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


def parsed(data: bytes, name: str) -> Any:
    """Return what the JSON says. Raises BodyError, as all here; `name` is what the body is called."""
    if not data.strip():
        raise BodyError(f"{name} in body is required", REQUIRED, UNPROCESSABLE)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as err:
        raise unreadable(name, "it is not JSON") from err


def unreadable(name: str, why: str) -> BodyError:
    return BodyError(f'parsing {name} body from "" failed, because {why}')


def table(item: Any, name: str) -> Mapping[str, Any]:
    """Return the fields of an object."""
    if not isinstance(item, dict):
        raise unreadable(name, "an item is not an object")
    return item


def require(fields: Mapping[str, Any], names: tuple[str, ...], prefix: str = "") -> None:
    """Raise for the first of these fields that is missing."""
    for name in names:
        if fields.get(name) is None:
            raise BodyError(f"{prefix}{name} in body is required", REQUIRED, UNPROCESSABLE)


def text_of(fields: Mapping[str, Any], key: str, name: str) -> str:
    """Return a text, "" for what is missing."""
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise unreadable(name, f"{key} is not a string")
    return _whole(value)


def _whole(text: str) -> str:
    r"""Return the text with halves of surrogate pairs replaced, which JSON can say and nobody can write."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def pairs_of(fields: Mapping[str, Any], key: str, name: str = "alerts") -> list[tuple[str, str]]:
    """Return labels or annotations in order; of an annotation the empty text is one."""
    pairs = fields.get(key)
    if pairs is None:
        return []
    if not isinstance(pairs, dict) or not all(isinstance(value, str) for value in pairs.values()):
        raise unreadable(name, f"{key} is not an object of strings")
    return sorted({_whole(name): _whole(value) for name, value in pairs.items()}.items())


def instant_of(fields: Mapping[str, Any], key: str, name: str) -> Instant:
    """Return the milliseconds, 0 for what is missing or the zero time of Go."""
    written = text_of(fields, key, name)
    if not written:
        return 0
    try:
        at = datetime.fromisoformat(written)
    except ValueError as err:
        raise unreadable(name, f"{key} is not a date and time (RFC 3339)") from err
    # Go's zero time is in the year 1, where some zones are before time.
    if at.year == 1:
        return 0
    return min(from_seconds((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()), _LATEST)
