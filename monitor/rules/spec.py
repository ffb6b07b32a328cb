"""What a rule file says: groups and their rules. Values only; what happens to a rule is kept by the group at work."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from monitor.model.instant import Duration
from monitor.model.labels import EMPTY, Labels


@dataclass(frozen=True, slots=True)
class AlertingRule:
    """
    An alert: `expr` finds it, it fires when it has been found for `for_`, and stays `keep_firing_for` after.

    `labels` and `annotations` are templates; the group's labels lie under `labels` already. An empty value in `labels`
    stands for "remove the label" and is therefore kept (`overlay`); one in `annotations` is an annotation like any
    other. Durations are milliseconds.
    `line` is where the rule begins in its file, 0 when it has none.
    """

    name: str
    expr: str
    for_: Duration = 0
    keep_firing_for: Duration = 0
    labels: Labels = EMPTY
    annotations: Labels = EMPTY
    line: int = 0


@dataclass(frozen=True, slots=True)
class RecordingRule:
    """A series named `name` that records what `expr` finds; `labels` as for an alert, but no templates."""

    name: str
    expr: str
    labels: Labels = EMPTY
    line: int = 0


Rule: TypeAlias = AlertingRule | RecordingRule


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """
    Rules that are evaluated one after the other at the same instant.

    `interval` and `query_offset` are None where the file leaves them to the defaults. `limit` is the most series or
    alerts that a rule may produce; none when it is not above 0.
    """

    name: str
    file: str = ""
    interval: Duration | None = None
    query_offset: Duration | None = None
    limit: int = 0
    labels: Labels = EMPTY
    rules: tuple[Rule, ...] = ()


def overlay(under: Mapping[str, str], over: Mapping[str, str]) -> Labels:
    """
    Return `over` laid over `under`, with empty values kept.

    In a rule an empty label value is an order, to remove that label from what the expression found.
    """
    return Labels(sorted({**under, **over}.items()))
