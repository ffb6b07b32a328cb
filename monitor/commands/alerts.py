"""`vllm-monitor alerts`: what fires now, and what of it nobody is told, and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from monitor.commands.alertmanager import instant_of, rough, table
from monitor.model.instant import Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, Labels
from monitor.model.matcher import Matcher

_COLUMNS = ("state", "alert", "severity", "instance", "model", "since", "summary")
_UNBROKEN = 3


def matching(alerts: Sequence[Mapping[str, Any]], matchers: Sequence[Matcher]) -> list[Mapping[str, Any]]:
    """Return the alerts that all `matchers` accept, the oldest first."""
    found = [alert for alert in alerts if all(matcher.accepts(Labels.of(alert["labels"])) for matcher in matchers)]
    return sorted(found, key=lambda alert: instant_of(alert["startsAt"]))


def alert_table(shown: Sequence[Mapping[str, Any]], alerts: Sequence[Mapping[str, Any]], now: Instant) -> Table:
    """Return a table of the alerts `shown`, which are among `alerts`."""
    names = {alert["fingerprint"]: str(alert["labels"].get(ALERT_NAME, "?")) for alert in alerts}
    rows = [
        (
            _state(alert["status"], names),
            alert["labels"].get(ALERT_NAME, ""),
            alert["labels"].get("severity", ""),
            alert["labels"].get(INSTANCE, ""),
            alert["labels"].get("model_name", ""),
            rough(max(0, now - instant_of(alert["startsAt"]))),
            alert["annotations"].get("summary", ""),
        )
        for alert in shown
    ]
    return table(_COLUMNS, rows, _UNBROKEN)


def _state(status: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return `firing`, or by what the alert is muted."""
    if status.get("silencedBy"):
        return "silenced"
    if status.get("inhibitedBy"):
        sources = dict.fromkeys(names.get(one, one) for one in status["inhibitedBy"])
        return f"inhibited by {', '.join(sources)}"
    if status.get("mutedBy"):
        return f"muted by {', '.join(status['mutedBy'])}"
    return "firing"
