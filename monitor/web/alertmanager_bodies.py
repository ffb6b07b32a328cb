"""
What is posted to Alertmanager's API v2, read into values; what is wrong is worded as Alertmanager words it.

reference: Alertmanager 0.33, api/v2/openapi.yaml and alert/validate.go.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from monitor.dispatch.silence import Silence
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant, from_seconds
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchError, MatchType

# The codes of go-openapi.
REQUIRED = 602
TOO_FEW = 612
WRONG_TYPE = 601
_UNPROCESSABLE = 422
# Of the labels, annotations and link of an alert: more than any message can show.
LARGEST_ALERT_BYTES = 16 << 10
_BAD_REQUEST = 400
# The last day that can be written, less one for zones.
_LATEST: Instant = from_seconds(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


class BodyError(Exception):
    """A request that is not even of the right form; `code` is go-openapi's, `status` that of the response."""

    def __init__(self, message: str, code: int = _BAD_REQUEST, status: int = _BAD_REQUEST) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class Posted(NamedTuple):
    """The alerts of a request that are good, by whether somebody said when they end, and what is wrong with others."""

    ending: list[Alert]
    endless: list[Alert]
    problems: list[str]


def alerts(data: bytes, now: Instant, resolve_timeout: Duration) -> Posted:
    """Return the alerts of a body; one without an end counts as over after `resolve_timeout`. Raises BodyError."""
    posted = Posted([], [], [])
    items = _json(data, "alerts")
    if not isinstance(items, list):
        raise _unreadable("alerts", "it is not a list")
    for number, item in enumerate(items):
        fields = _table(item, "alerts")
        _require(fields, ("labels",), f"{number}.")
        starts_at, ends_at = _instant(fields, "startsAt", "alerts"), _instant(fields, "endsAt", "alerts")
        alert = Alert(
            labels=Labels.of(_pairs(fields, "labels")),
            annotations=Labels(_pairs(fields, "annotations")),
            starts_at=starts_at or ends_at or now,
            ends_at=ends_at or now + resolve_timeout,
            generator_url=_text(fields, "generatorURL", "alerts"),
        )
        problem = _problem(alert)
        if problem:
            posted.problems.append(problem)
        else:
            (posted.ending if ends_at else posted.endless).append(alert)
    return posted


def silence(data: bytes) -> Silence:
    """Return the silence of a body, with the id "" when it is a new one. Raises BodyError and SilenceError."""
    fields = _table(_json(data, "silence"), "silence")
    _require(fields, ("comment", "createdBy", "endsAt", "matchers", "startsAt"))
    items = fields["matchers"]
    if not isinstance(items, list):
        raise _unreadable("silence", "matchers is not a list")
    if not items:
        raise BodyError("matchers in body should have at least 1 items", TOO_FEW, _UNPROCESSABLE)
    return Silence(
        id=_text(fields, "id", "silence"),
        matchers=tuple(_matcher(number, item) for number, item in enumerate(items)),
        starts_at=_instant(fields, "startsAt", "silence"),
        ends_at=_instant(fields, "endsAt", "silence"),
        created_by=_text(fields, "createdBy", "silence"),
        comment=_text(fields, "comment", "silence"),
    )


def _matcher(number: int, item: Any) -> Matcher:
    fields = _table(item, "silence")
    _require(fields, ("isRegex", "name", "value"), f"matchers.{number}.")
    # A client that is older than negative matchers does not say isEqual.
    is_equal = fields.get("isEqual")
    kind = MatchType.of(is_regex=bool(fields["isRegex"]), is_equal=is_equal is None or bool(is_equal))
    name, value = _text(fields, "name", "silence"), _text(fields, "value", "silence")
    try:
        return Matcher(name, kind, value)
    except MatchError as err:
        raise InvalidSilenceError(f"invalid silence: invalid label matcher {number}: {err}") from err


class InvalidSilenceError(Exception):
    """The form of a silence is right, its content is not."""


def _problem(alert: Alert) -> str:
    if alert.ends_at is not None and alert.ends_at < alert.starts_at:
        return "start time must be before end time"
    if not alert.labels:
        return "at least one label pair required"
    for what, labels in (("label set", alert.labels), ("annotations", alert.annotations)):
        if labels and not labels[0][0]:
            return f'invalid {what}: invalid name ""'
    texts = [
        alert.generator_url,
        *(text for labels in (alert.labels, alert.annotations) for pair in labels for text in pair),
    ]
    size = sum(len(text.encode()) for text in texts)
    if size > LARGEST_ALERT_BYTES:
        return f"exceeded maximum size: {size} bytes (limit: {LARGEST_ALERT_BYTES} bytes)"
    return ""


def _json(data: bytes, name: str) -> Any:
    if not data.strip():
        raise BodyError(f"{name} in body is required", REQUIRED, _UNPROCESSABLE)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as err:
        raise _unreadable(name, "it is not JSON") from err


def _unreadable(name: str, why: str) -> BodyError:
    return BodyError(f'parsing {name} body from "" failed, because {why}')


def _table(item: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise _unreadable(name, "an item is not an object")
    return item


def _require(fields: Mapping[str, Any], names: tuple[str, ...], prefix: str = "") -> None:
    for name in names:
        if fields.get(name) is None:
            raise BodyError(f"{prefix}{name} in body is required", REQUIRED, _UNPROCESSABLE)


def _text(fields: Mapping[str, Any], key: str, name: str) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _unreadable(name, f"{key} is not a string")
    return _whole(value)


def _whole(text: str) -> str:
    r"""Return the text with halves of surrogate pairs replaced, which JSON can say and nobody can write."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _pairs(fields: Mapping[str, Any], key: str) -> list[tuple[str, str]]:
    """Return labels or annotations in order; of an annotation the empty text is one."""
    pairs = fields.get(key)
    if pairs is None:
        return []
    if not isinstance(pairs, dict) or not all(isinstance(value, str) for value in pairs.values()):
        raise _unreadable("alerts", f"{key} is not an object of strings")
    return sorted({_whole(name): _whole(value) for name, value in pairs.items()}.items())


def _instant(fields: Mapping[str, Any], key: str, name: str) -> Instant:
    """Return the milliseconds, 0 for what is missing or the zero time of Go."""
    written = _text(fields, key, name)
    if not written:
        return 0
    try:
        at = datetime.fromisoformat(written)
    except ValueError as err:
        raise _unreadable(name, f"{key} is not a date and time (RFC 3339)") from err
    # Go's zero time is in the year 1, where some zones are before time.
    if at.year == 1:
        return 0
    return min(from_seconds((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()), _LATEST)
