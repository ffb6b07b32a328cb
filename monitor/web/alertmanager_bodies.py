"""
What is posted to Alertmanager's API v2, read into values; what is wrong is worded as Alertmanager words it.

reference: Alertmanager 0.33, api/v2/openapi.yaml and alert/validate.go.
"""

from typing import Any, NamedTuple

from monitor.dispatch.silence import Silence
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchError, MatchType
from monitor.web.json_fields import (
    TOO_FEW,
    UNPROCESSABLE,
    BodyError,
    instant_of,
    pairs_of,
    parsed,
    require,
    table,
    text_of,
    unreadable,
)

# Of the labels, annotations and link of an alert: more than any message can show.
LARGEST_ALERT_BYTES = 16 << 10


class Posted(NamedTuple):
    """The alerts of a request that are good, by whether somebody said when they end, and what is wrong with others."""

    ending: list[Alert]
    endless: list[Alert]
    problems: list[str]


def alerts(data: bytes, now: Instant, resolve_timeout: Duration) -> Posted:
    """Return the alerts of a body; one without an end counts as over after `resolve_timeout`. Raises BodyError."""
    posted = Posted([], [], [])
    items = parsed(data, "alerts")
    if not isinstance(items, list):
        raise unreadable("alerts", "it is not a list")
    for number, item in enumerate(items):
        fields = table(item, "alerts")
        require(fields, ("labels",), f"{number}.")
        starts_at, ends_at = instant_of(fields, "startsAt", "alerts"), instant_of(fields, "endsAt", "alerts")
        alert = Alert(
            labels=Labels.of(pairs_of(fields, "labels")),
            annotations=Labels(pairs_of(fields, "annotations")),
            starts_at=starts_at or ends_at or now,
            ends_at=ends_at or now + resolve_timeout,
            generator_url=text_of(fields, "generatorURL", "alerts"),
        )
        problem = _problem(alert)
        if problem:
            posted.problems.append(problem)
        else:
            (posted.ending if ends_at else posted.endless).append(alert)
    return posted


def silence(data: bytes) -> Silence:
    """Return the silence of a body, with the id "" when it is a new one. Raises BodyError and SilenceError."""
    fields = table(parsed(data, "silence"), "silence")
    require(fields, ("comment", "createdBy", "endsAt", "matchers", "startsAt"))
    items = fields["matchers"]
    if not isinstance(items, list):
        raise unreadable("silence", "matchers is not a list")
    if not items:
        raise BodyError("matchers in body should have at least 1 items", TOO_FEW, UNPROCESSABLE)
    return Silence(
        id=text_of(fields, "id", "silence"),
        matchers=tuple(_matcher(number, item) for number, item in enumerate(items)),
        starts_at=instant_of(fields, "startsAt", "silence"),
        ends_at=instant_of(fields, "endsAt", "silence"),
        created_by=text_of(fields, "createdBy", "silence"),
        comment=text_of(fields, "comment", "silence"),
    )


def _matcher(number: int, item: Any) -> Matcher:
    fields = table(item, "silence")
    require(fields, ("isRegex", "name", "value"), f"matchers.{number}.")
    # A client that is older than negative matchers does not say isEqual.
    is_equal = fields.get("isEqual")
    kind = MatchType.of(is_regex=bool(fields["isRegex"]), is_equal=is_equal is None or bool(is_equal))
    name, value = text_of(fields, "name", "silence"), text_of(fields, "value", "silence")
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
