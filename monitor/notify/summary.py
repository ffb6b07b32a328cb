"""
What a person must read of a notification, before any markup: the part that Slack and the console share.

All texts are cleaned, none is escaped; how much of them is shown is the rendering's business.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isfinite, isnan

from monitor.dispatch.notification import Notification
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.notify.cleanse import cleaned, one_line
from monitor.notify.generator import expr_of
from monitor.notify.moment import lasted
from monitor.notify.readings import NOTHING, Facts, Readings
from monitor.notify.severity import SEVERITY, Severity, severity_of, worst
from monitor.notify.title import Headline, title

MODEL = "model_name"
# The first annotation that is there is taken. The names are those of public rule files.
_WHAT = ("summary", "title", "message")
_DESCRIPTION = ("description", "message")
# `lowest`: the smaller its value, the worse an alert is.
_WORST, _LOWEST = "worst", "lowest"
_REMEDY = ("remedy", "action", "what_to_do")
_RUNBOOK = ("runbook_url", "runbook")
_DASHBOARD = ("dashboard_url", "dashboard")
_SILENCE = ("silence_url",)
_FLOOR = re.compile(r"<=?\s*[-+0-9.eE]+\s*$")
# How the last line of a description begins that says what to do. The rules that ship have one.
_TRY_FIRST = "try first:"
_UNTOLD = frozenset((ALERT_NAME, SEVERITY, JOB, MODEL, INSTANCE))
_MOST_LABELS = 3


@dataclass(frozen=True, slots=True)
class Case:
    """
    One alert of a kind: where, how bad, since when.

    `brief` is what of the place is not the place of its whole kind. `threshold` is what the value is held against.
    `since` is when the condition was first seen, `fired` when the alert began to fire, `ended` when it resolved.
    """

    where: str
    brief: str
    labels: Labels
    severity: Severity
    value: str
    threshold: str
    since: Instant
    fired: Instant
    ended: Instant | None
    lasted: Duration

    @property
    def resolved(self) -> bool:
        return self.ended is not None


@dataclass(frozen=True, slots=True)
class Kind:
    """
    The alerts of one name: what they say in common, and the cases, the worst first, those that fire before all.

    `place` and `threshold` are those of all cases, or "". `description` does not hold the `remedy`.
    """

    name: str
    severity: Severity
    what: str
    place: str
    description: str
    threshold: str
    remedy: str
    runbook: str
    dashboard: str
    silence: str
    cases: tuple[Case, ...]

    @property
    def firing(self) -> int:
        return sum(not case.resolved for case in self.cases)

    @property
    def resolved(self) -> bool:
        return not self.firing

    @property
    def counts(self) -> str:
        """`2 firing, 1 resolved`; nothing when there is one case."""
        return _counts(self.firing, len(self.cases) - self.firing)


@dataclass(frozen=True, slots=True)
class Summary:
    """
    A whole notification.

    `severity` is the worst of the alerts that fire, or of all when nothing fires any more.
    `kinds` are sorted: what fires first, then the worst. `readings` are the numbers of the first case of the first
    kind; of what is over, the worst that they were. `fallback` is empty, or says who should have been told instead.
    `left_out` more alerts are in the group, of which nobody has told us.
    `silence` is a command that silences it all, where nothing better is at hand. `is_digest`: many incidents, told
    together. `has_moved`: another group tells of what it was about.
    """

    headline: Headline
    severity: Severity
    firing: int
    resolved: int
    kinds: tuple[Kind, ...]
    now: Instant
    readings: Readings = NOTHING
    fallback: str = ""
    left_out: int = 0
    silence: str = ""
    is_digest: bool = False
    has_moved: bool = False

    @property
    def title(self) -> str:
        """One line of less than 80 characters."""
        return title(self.headline)

    @property
    def is_resolved(self) -> bool:
        return not self.firing

    @property
    def marks(self) -> list[str]:
        """Why this stands here, if it should stand elsewhere, and what nobody has told us."""
        fallback = [f"Fallback: {self.fallback}"] if self.fallback else []
        return [*fallback, f"+{self.left_out} more, which Alertmanager left out"] if self.left_out else fallback

    @property
    def counts(self) -> str:
        """`2 firing, 1 resolved`; nothing when there is one alert."""
        return _counts(self.firing, self.resolved)


def summarise(notification: Notification) -> Summary:
    """Return what a person must read of `notification`."""
    now = notification.now
    kinds = sorted(
        (_kind(tuple(alerts), now) for _, alerts in groupby(sorted(notification.alerts, key=_name), key=_name)),
        key=lambda kind: (kind.resolved, kind.severity.rank, -len(kind.cases), kind.name),
    )
    firing = notification.firing
    severity = worst(severity_of(alert) for alert in firing or notification.alerts)
    return Summary(
        headline=_headline(notification, kinds, severity),
        severity=severity,
        firing=len(firing),
        resolved=len(notification.alerts) - len(firing),
        kinds=tuple(kinds),
        now=now,
        fallback=one_line(notification.fallback),
        left_out=notification.left_out,
    )


def with_readings(summary: Summary, facts: Facts, since: Instant | None = None) -> Summary:
    """
    Return the summary with the numbers of its first case: as they are, or how bad they were when it is over.

    `since` is when it began, if not with that case.
    """
    if not summary.kinds:
        return summary
    first = summary.kinds[0].cases[0]
    if first.ended is None:
        return replace(summary, readings=facts.at(first.labels, summary.now))
    began = first.since if since is None else min(since, first.since)
    return replace(summary, readings=facts.worst(first.labels, began, first.ended))


def _counts(firing: int, resolved: int) -> str:
    if firing + resolved <= 1:
        return ""
    return ", ".join(f"{count} {word}" for count, word in ((firing, "firing"), (resolved, "resolved")) if count)


def _name(alert: Alert) -> str:
    return alert.name


def _kind(alerts: Sequence[Alert], now: Instant) -> Kind:
    ordered = sorted(alerts, key=lambda alert: _worst_first(alert, now))
    first = ordered[0]
    cases = _cases(ordered, now)
    thresholds = {case.threshold for case in cases}
    description, remedy = _advice(first)
    return Kind(
        name=one_line(first.name) or "alert",
        severity=severity_of(first),
        what=one_line(_annotation(first, _WHAT)),
        place=_place_of_all(ordered),
        description=description,
        threshold=cases[0].threshold if len(thresholds) == 1 else "",
        remedy=remedy,
        runbook=_annotation(first, _RUNBOOK).strip(),
        dashboard=_annotation(first, _DASHBOARD).strip(),
        silence=_annotation(first, _SILENCE).strip(),
        cases=cases,
    )


def _advice(alert: Alert) -> tuple[str, str]:
    """Return what an alert means, and what to try first: a description may end with that."""
    description = cleaned(_annotation(alert, _DESCRIPTION)).strip()
    remedy = cleaned(_annotation(alert, _REMEDY)).strip()
    lines = description.split("\n")
    last = max((at for at, row in enumerate(lines) if row.strip().lower().startswith(_TRY_FIRST)), default=len(lines))
    found = "\n".join(lines[last:]).strip()[len(_TRY_FIRST) :].strip()
    if remedy and remedy != found:
        return description, remedy
    return "\n".join(lines[:last]).rstrip(), found


def _worst_first(alert: Alert, now: Instant) -> tuple[bool, int, float, Instant]:
    badness = 0.0 if isnan(alert.value) else alert.value if _lowest_is_worst(alert) else -alert.value
    return (alert.resolved(now), severity_of(alert).rank, badness, alert.starts_at)


def is_worse(alert: Alert, than: float) -> bool:
    """Say whether the value of `alert` is worse than another one of the same kind; any is worse than none."""
    if isnan(alert.value):
        return False
    return isnan(than) or (alert.value < than if _lowest_is_worst(alert) else alert.value > than)


def _lowest_is_worst(alert: Alert) -> bool:
    """Say whether a smaller value is worse: the annotation `worst` is `lowest`, or the rule ends in `< number`."""
    word = alert.annotations.value(_WORST)
    if word:
        return word.strip().lower() == _LOWEST
    return bool(_FLOOR.search(expr_of(alert.generator_url)))


def since_of(alert: Alert) -> Instant:
    """Return when the condition of `alert` was first seen."""
    return alert.starts_at if alert.active_at is None else min(alert.active_at, alert.starts_at)


def what_of(alert: Alert) -> str:
    """Return what is wrong, in a line: the summary of the rule, or its name."""
    return one_line(_annotation(alert, _WHAT)) or one_line(alert.name) or "alert"


def _cases(alerts: Sequence[Alert], now: Instant) -> tuple[Case, ...]:
    told = _common_names(alerts) | _UNTOLD
    shared = _common_names(alerts)
    return tuple(_case(alert, told, shared, now) for alert in alerts)


def _case(alert: Alert, told: frozenset[str], shared: frozenset[str], now: Instant) -> Case:
    since = since_of(alert)
    ended = alert.ends_at if alert.resolved(now) else None
    place = where(alert.labels, told)
    return Case(
        where=place,
        brief=where(Labels(pair for pair in alert.labels if pair[0] not in shared), told) or place,
        labels=alert.labels,
        severity=severity_of(alert),
        value=value_of(alert),
        threshold=one_line(alert.annotations.value("threshold")),
        since=since,
        fired=alert.starts_at,
        ended=ended,
        lasted=max((now if ended is None else ended) - since, 0),
    )


def _place_of_all(alerts: Sequence[Alert]) -> str:
    """Return the model, and the instance, that several alerts share."""
    shared = _common_names(alerts) & {MODEL, INSTANCE}
    return where(alerts[0].labels.only(tuple(shared))) if shared else ""


def _common_names(alerts: Sequence[Alert]) -> frozenset[str]:
    """Return the names of the labels that are the same on all alerts: they tell none from another."""
    shared = set(alerts[0].labels).intersection(*(alert.labels for alert in alerts))
    return frozenset(name for name, _ in shared) if len(alerts) > 1 else frozenset()


def where(labels: Labels, told: Iterable[str] = _UNTOLD) -> str:
    """Return the place in a few words: `llama-3-8b @ 10.0.0.1:8000 engine=1`."""
    model, instance = one_line(labels.value(MODEL)).rpartition("/")[2], one_line(labels.value(INSTANCE))
    place = " @ ".join(part for part in (model, instance) if part)
    rest = [f"{name}={value}" for name, value in labels if name not in told and name not in _UNTOLD]
    return one_line(" ".join([place, *rest[:_MOST_LABELS]])) or one_line(labels.value(JOB))


def _annotation(alert: Alert, names: Iterable[str]) -> str:
    return next((text for name in names if (text := alert.annotations.value(name))), "")


def value_of(alert: Alert) -> str:
    """Return the value in the words of its rule, or as a number; "" when there is none."""
    text = one_line(alert.annotations.value("value"))
    if text or isnan(alert.value):
        return text
    return f"{alert.value:.4g}" if isfinite(alert.value) else f"{alert.value:+}".title()


def _headline(notification: Notification, kinds: Sequence[Kind], severity: Severity) -> Headline:
    if not kinds:
        return Headline("resolved", "nothing to tell")
    first, firing = kinds[0], len(notification.firing)
    shown = first.firing or len(first.cases)
    common = notification.common_labels.only((MODEL, INSTANCE))
    place = where(common)
    if not place and len(notification.alerts) == 1:
        place = first.cases[0].where
    return Headline(
        status=severity.word if firing else "resolved",
        what=first.what or first.name,
        number=first.cases[0].value if firing else f"lasted {lasted(_whole(kinds))}",
        place=place,
        brief_place=one_line(common.value(INSTANCE)) or place,
        count=shown,
        others=(firing or len(notification.alerts)) - shown,
    )


def _whole(kinds: Sequence[Kind]) -> Duration:
    """Return how long it took from the first beginning to the last end."""
    cases = [case for kind in kinds for case in kind.cases]
    return max(max(case.since + case.lasted for case in cases) - min(case.since for case in cases), 0)
