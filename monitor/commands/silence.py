"""`vllm-monitor silence`: what not to be told of for a while."""

import getpass
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from monitor.commands.alertmanager import instant_of, rough, table
from monitor.commands.usage import UsageError
from monitor.model.instant import DAY, Duration, DurationError, Instant, parse_duration
from monitor.model.labels import Labels
from monitor.model.matcher import Matcher, MatchType
from monitor.web.views import timestamp

_COLUMNS = ("id", "state", "matchers", "time", "by", "comment")
_UNBROKEN = 2


def duration_of(text: str) -> Duration:
    """Return the milliseconds of `2h` or `1h30m`. Raises UsageError."""
    try:
        duration = parse_duration(text.replace(" ", ""))
    except DurationError as err:
        raise UsageError(f"--duration: {err}") from err
    if not duration:
        raise UsageError("--duration must be longer than 0")
    return duration


def user() -> str:
    """Return the name of whoever runs the command; in a container there may be none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def body(matchers: Sequence[Matcher], duration: Duration, now: Instant, comment: str, author: str) -> dict[str, Any]:
    """Return a silence from now on as the API takes it. Raises UsageError."""
    if not matchers:
        raise UsageError("a silence needs a matcher: severity=warning, instance=~10.0.0.+, or the name of an alert")
    if not comment.strip():
        raise UsageError("--comment must say why: others will wonder")
    return {
        "matchers": [
            {
                "name": matcher.name,
                "value": matcher.value,
                "isRegex": matcher.type.is_regex,
                "isEqual": not matcher.type.is_negative,
            }
            for matcher in matchers
        ],
        # In the past, and so at once, also for a daemon whose clock is behind ours.
        "startsAt": timestamp(now - DAY),
        "endsAt": timestamp(now + duration),
        "createdBy": author,
        "comment": comment,
    }


def effect(alerts: Sequence[Mapping[str, Any]], matchers: Sequence[Matcher]) -> str:
    """Say how many of the alerts that fire are silenced by `matchers`."""
    count = sum(all(matcher.accepts(Labels.of(alert["labels"])) for matcher in matchers) for alert in alerts)
    return {0: "no alert that fires now is silenced", 1: "1 alert that fires now is silenced"}.get(
        count, f"{count} alerts that fire now are silenced"
    )


def silence_table(silences: Sequence[Mapping[str, Any]], now: Instant) -> Table:
    rows = [
        (
            silence["id"],
            silence["status"]["state"],
            ", ".join(str(_matcher(one)) for one in silence["matchers"]),
            _time(silence, now),
            silence["createdBy"],
            silence["comment"],
        )
        for silence in silences
    ]
    return table(_COLUMNS, rows, _UNBROKEN)


def _time(silence: Mapping[str, Any], now: Instant) -> str:
    starts_at, ends_at = instant_of(silence["startsAt"]), instant_of(silence["endsAt"])
    if now < starts_at:
        return f"for {rough(ends_at - starts_at)}, in {rough(starts_at - now)}"
    return f"{rough(ends_at - now)} left" if now < ends_at else f"ended {rough(now - ends_at)} ago"


def _matcher(one: Mapping[str, Any]) -> Matcher:
    kind = MatchType.of(is_regex=bool(one["isRegex"]), is_equal=bool(one.get("isEqual", True)))
    return Matcher(one["name"], kind, one["value"])
