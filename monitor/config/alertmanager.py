"""The part of a configuration that is Alertmanager's, as a file that Alertmanager and amtool read."""

from collections.abc import Sequence
from typing import Any

import yaml

from monitor.config.config import Config
from monitor.config.intervals import WEEKDAYS
from monitor.dispatch.inhibit import InhibitRule
from monitor.dispatch.route import Route
from monitor.dispatch.timeinterval import Span, TimeInterval
from monitor.model.instant import format_duration
from monitor.model.matcher import Matcher

Yaml = dict[str, Any]


def as_alertmanager(config: Config) -> str:
    """
    Return YAML with routes, inhibition and times; of receivers it has the names alone, and so no secret.

    What a route has from its parent is written out. The names of inhibit rules are left out: amtool 0.25 does not know
    them.
    """
    document: Yaml = {
        "global": {"resolve_timeout": format_duration(config.global_.resolve_timeout)},
        "route": _route(config.route),
        "inhibit_rules": [_inhibit_rule(rule) for rule in config.inhibit_rules],
        "time_intervals": [
            {"name": name, "time_intervals": [_interval(interval) for interval in intervals]}
            for name, intervals in config.time_intervals.items()
        ],
        "receivers": [{"name": receiver.name} for receiver in config.receivers],
    }
    return yaml.safe_dump({key: value for key, value in document.items() if value}, sort_keys=False)


def _route(route: Route) -> Yaml:
    written: Yaml = {
        "receiver": route.receiver,
        "group_by": ["..."] if route.group_by_all else list(route.group_by),
        "group_wait": format_duration(route.group_wait),
        "group_interval": format_duration(route.group_interval),
        "repeat_interval": format_duration(route.repeat_interval),
    }
    extras: Yaml = {
        "matchers": _matchers(route.matchers),
        "continue": route.continue_,
        "mute_time_intervals": list(route.mute_time_intervals),
        "active_time_intervals": list(route.active_time_intervals),
        "routes": [_route(child) for child in route.routes],
    }
    return written | {key: value for key, value in extras.items() if value}


def _inhibit_rule(rule: InhibitRule) -> Yaml:
    written: Yaml = {
        "source_matchers": _matchers(rule.source_matchers),
        "target_matchers": _matchers(rule.target_matchers),
    }
    return written | ({"equal": list(rule.equal)} if rule.equal else {})


def _matchers(matchers: Sequence[Matcher]) -> list[str]:
    return [str(matcher) for matcher in matchers]


def _interval(interval: TimeInterval) -> Yaml:
    written: Yaml = {}
    if interval.times is not None:
        written["times"] = [
            {"start_time": _time(span.begin), "end_time": _time(span.end + 1)} for span in interval.times
        ]
    for key in ("weekdays", "days_of_month", "months", "years"):
        spans: tuple[Span, ...] | None = getattr(interval, key)
        if spans is not None:
            members = WEEKDAYS.__getitem__ if key == "weekdays" else str
            written[key] = [f"{members(span.begin)}:{members(span.end)}" for span in spans]
    return written | {"location": "Local" if interval.zone is None else str(interval.zone)}


def _time(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
