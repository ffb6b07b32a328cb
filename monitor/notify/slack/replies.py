"""What is said in the thread of an incident: one short text for each piece of news."""

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.dispatch.notification import Notification, Reason
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.notify.moment import lasted
from monitor.notify.severity import severity_of, worst
from monitor.notify.slack.escape import code, date, literal
from monitor.notify.slack.signs import RESOLVED_SIGN, SIGNS
from monitor.notify.summary import value_of, what_of, where

_MOST = 5


@dataclass(frozen=True, slots=True)
class News:
    """What is new about an incident: `firing` began to fire, `over` ended."""

    kind: Reason
    firing: tuple[Alert, ...] = ()
    over: tuple[Alert, ...] = ()


def words(news: News, told: Notification, episodes: int, opened_at: Instant, peak: str) -> str:
    """Return the text for the thread, escaped; "" when there is nothing to say."""
    if news.kind is Reason.ALL_RESOLVED:
        peaked = f" · peak {literal(peak, 80)}" if peak else ""
        flapped = f" · fired {episodes} times" if episodes > 1 else ""
        ended = max((alert.ends_at for alert in told.resolved if alert.ends_at is not None), default=told.now)
        return f"{RESOLVED_SIGN} *Resolved* after {lasted(max(ended - opened_at, 0))}{peaked}{flapped}"
    lines: list[str] = []
    if news.kind is Reason.FIRST:
        lines = _list(f"*Fires again*, {episodes} times since {date(opened_at)}", told.firing)
    elif news.kind is Reason.NEW_ALERTS:
        lines = _list("*New*", news.firing)
    elif news.kind is Reason.REPEAT:
        lines = _list(f"*Still firing* after {lasted(max(told.now - opened_at, 0))}", told.firing)
    if news.over:
        places = ", ".join(_place(alert) for alert in news.over[:_MOST])
        lines.append(f"{RESOLVED_SIGN} *Over:* {places}{_rest(news.over)}")
    return "\n".join(lines)


def listed(heading: str, alerts: Sequence[Alert]) -> str:
    """Return the heading, with the sign of the worst alert, and below it the worst of the alerts."""
    return "\n".join(_list(heading, alerts))


def _list(heading: str, alerts: Sequence[Alert]) -> list[str]:
    ordered = sorted(alerts, key=lambda alert: severity_of(alert).rank)
    sign = SIGNS[worst(severity_of(alert) for alert in ordered)]
    lines = [f"• {_line(alert)}" for alert in ordered[:_MOST]]
    return [f"{sign} {heading}", *lines, *([_rest(alerts).strip()] if len(alerts) > _MOST else [])]


def _line(alert: Alert) -> str:
    parts = (literal(what_of(alert), 150), literal(value_of(alert), 80), code(where(alert.labels), 120))
    return " · ".join(part for part in parts if part)


def _place(alert: Alert) -> str:
    return code(where(alert.labels), 120) or literal(alert.name, 80)


def _rest(alerts: Sequence[Alert]) -> str:
    return f" +{len(alerts) - _MOST} more" if len(alerts) > _MOST else ""
