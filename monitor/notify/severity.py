"""How bad it is."""

from collections.abc import Iterable, Sequence
from enum import Enum

from monitor.model.alert import Alert
from monitor.model.instant import Instant

SEVERITY = "severity"


class Severity(Enum):
    """The three colours of an alert, worst first. The many words of rule files are read as one of them."""

    CRITICAL = ("critical", "page", "emergency", "fatal", "error", "high", "p1", "sev1")
    WARNING = ("warning", "warn", "medium", "p2", "sev2")
    INFO = ("info", "information", "informational", "notice", "none", "low", "debug", "p3", "p4", "sev3", "sev4")

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return _RANKS[self]

    @property
    def word(self) -> str:
        return str(self.value[0])


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}
_WORDS = {word: severity for severity in Severity for word in severity.value}


def severity_of(alert: Alert) -> Severity:
    """Return the severity of an alert; a word nobody knows, or none, is a warning."""
    return _WORDS.get(alert.labels.value(SEVERITY).lower(), Severity.WARNING)


# Of what is no news at all.
LEAST_URGENT = 2 * len(Severity)


def urgency(alerts: Sequence[Alert], now: Instant) -> int:
    """Return 0 for what is told first: what is critical before what is not, and what fires before what is over."""
    firing = [alert for alert in alerts if not alert.resolved(now)]
    return worst(severity_of(alert) for alert in firing or alerts).rank + (0 if firing else len(Severity))


def worst(severities: Iterable[Severity]) -> Severity:
    return min(severities, key=lambda severity: severity.rank, default=Severity.INFO)
