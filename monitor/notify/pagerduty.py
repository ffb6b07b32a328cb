"""
A service of PagerDuty, through its Events API v2.

A group of alerts is one incident there: its key is made of the group's, as Alertmanager makes it, so that an event that
comes twice changes nothing, and whoever goes over from Alertmanager keeps the incidents that are open.

reference: PagerDuty, Events API v2; Alertmanager 0.33, notify/pagerduty.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.alert import Alert
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB
from monitor.notify.cleanse import one_line, shortened
from monitor.notify.failure import Reason, failure
from monitor.notify.http import Address, HttpOptions, refused
from monitor.notify.moment import rfc3339
from monitor.notify.readings import Facts, NoFacts, Readings
from monitor.notify.secret import Secret
from monitor.notify.severity import SEVERITY, severity_of
from monitor.notify.summary import MODEL, Kind, Summary, summarise, with_readings
from monitor.notify.title import title
from monitor.notify.transport import Answer, is_web_address

EVENTS = "https://events.pagerduty.com/v2/enqueue"
SEVERITIES = ("critical", "error", "warning", "info")
LONGEST_SUMMARY = 1024
# PagerDuty takes 512 KB; nobody reads more than this.
_MOST_ALERTS = 50
_LONGEST_TEXT = 1000
_CLIENT = "vllm-monitor"
_ACCEPTED, _BAD_REQUEST = 202, 400


class PagerDuty:
    """
    Triggers and resolves incidents of the service that `routing_key` belongs to.

    `severities` says what the words of the label `severity` are there; those that it does not name are read as
    everywhere here. `external_url` is where the daemon is reached, `facts` knows the numbers that decide. `url` is
    settable for proxies and for tests.
    """

    def __init__(
        self,
        routing_key: Secret,
        *,
        severities: Mapping[str, str] | None = None,
        external_url: str = "",
        facts: Facts | None = None,
        url: str = EVENTS,
        options: HttpOptions | None = None,
    ) -> None:
        self._routing_key = routing_key
        self._severities = dict(severities or {})
        self._external_url = external_url
        self._facts = facts or NoFacts()
        self._address = Address(Secret(url), options, refusal)

    def notify(self, notification: Notification) -> None:
        """Send the event; raises NotifyError."""
        body = event(notification, self._severities, self._external_url, self._facts)
        body["routing_key"] = self._routing_key.get()
        answer = self._address.post(json.dumps(body).encode(), {"Content-Type": "application/json"})
        if answer.status != _ACCEPTED:
            # A page of a proxy, say; PagerDuty accepts with 202 alone, and an event twice does no harm.
            raise failure(Reason.AMBIGUOUS, f"not an answer of PagerDuty (status {answer.status})")


def refusal(answer: Answer) -> NotifyError:
    """Return what an answer other than success means; a wrong routing key is answered like a wrong event."""
    if answer.status == _BAD_REQUEST and "routing" in answer.body.lower():
        return failure(Reason.CREDENTIAL, "PagerDuty does not know the routing key (status 400)")
    return refused(answer)


def event(
    notification: Notification, severities: Mapping[str, str], external_url: str = "", facts: Facts | None = None
) -> dict[str, Any]:
    """Return the event without its routing key."""
    summary = with_readings(summarise(notification), facts or NoFacts())
    body: dict[str, Any] = {
        "event_action": "resolve" if notification.is_resolved else "trigger",
        "dedup_key": sha256(notification.group_key.encode()).hexdigest(),
        "client": _CLIENT,
        "payload": _payload(notification, summary, severities),
        "links": list(_links(summary)),
    }
    return body | ({"client_url": external_url} if is_web_address(external_url) else {})


def _payload(notification: Notification, summary: Summary, severities: Mapping[str, str]) -> dict[str, Any]:
    common = notification.common_labels
    firing = notification.firing or notification.alerts
    payload = {
        "summary": title(summary.headline, LONGEST_SUMMARY),
        "source": one_line(common.value(INSTANCE) or common.value(JOB)) or _CLIENT,
        "severity": min((_severity(alert, severities) for alert in firing), key=SEVERITIES.index, default="info"),
        "timestamp": rfc3339(min((alert.starts_at for alert in firing), default=notification.now)),
        "custom_details": _details(notification, summary),
    }
    named = {"class": common.value(ALERT_NAME), "component": common.value(MODEL), "group": common.value(JOB)}
    return payload | {name: one_line(value) for name, value in named.items() if value}


def _severity(alert: Alert, severities: Mapping[str, str]) -> str:
    word = alert.labels.value(SEVERITY)
    return severities.get(word) or (word if word in SEVERITIES else severity_of(alert).word)


def _details(notification: Notification, summary: Summary) -> dict[str, Any]:
    details: dict[str, Any] = {
        "num_firing": str(summary.firing),
        "num_resolved": str(summary.resolved),
        "receiver": notification.receiver,
    } | ({"fallback": summary.fallback} if summary.fallback else {})
    for kind in summary.kinds:
        told = {"what": kind.what, "description": kind.description, "what to do": kind.remedy}
        cases = [_case(kind, number) for number in range(min(len(kind.cases), _MOST_ALERTS))]
        hidden = len(kind.cases) - len(cases)
        text = {name: shortened(value, _LONGEST_TEXT) for name, value in told.items() if value and not kind.resolved}
        details[kind.name] = text | {"alerts": cases + ([f"+{hidden} more"] if hidden else [])}
        if kind is summary.kinds[0]:
            details[kind.name] |= _numbers(summary.readings)
        if len(details) > _MOST_ALERTS:
            break
    return details


def _numbers(readings: Readings) -> dict[str, list[str]]:
    """Return the numbers of the first case, and what follows from them."""
    told = {"numbers": list(readings.words), "by its numbers": list(readings.advice)}
    return {name: lines for name, lines in told.items() if lines}


def _case(kind: Kind, number: int) -> str:
    case = kind.cases[number]
    limit = f"(limit {case.threshold})" if case.threshold else ""
    when = f"since {rfc3339(case.since)}" if case.ended is None else f"resolved {rfc3339(case.ended)}"
    return shortened(" ".join(part for part in (case.where, case.value, limit, when) if part), _LONGEST_TEXT)


def _links(summary: Summary) -> Iterator[dict[str, str]]:
    """Yield the links of the kinds that fire, each once."""
    seen: set[str] = set()
    for kind in summary.kinds[:_MOST_ALERTS]:
        for url, text in ((kind.runbook, "Runbook"), (kind.dashboard, "Dashboard")):
            if is_web_address(url) and url not in seen:
                seen.add(url)
                yield {"href": url, "text": f"{text}: {kind.name}"}
