"""An alert on its way from the rules to a receiver."""

from dataclasses import dataclass
from math import nan

from monitor.model.instant import Instant
from monitor.model.labels import ALERT_NAME, Labels


@dataclass(frozen=True, slots=True)
class Alert:
    """
    One alert as Alertmanager knows it; identity is the whole label set, `alertname` included.

    `starts_at` is when it began to fire; `ends_at` is None while it fires, else when it resolved.
    `active_at` is when its condition was first seen (a rule's `for` lies between the two).
    """

    labels: Labels
    annotations: Labels
    starts_at: Instant
    ends_at: Instant | None = None
    active_at: Instant | None = None
    value: float = nan
    generator_url: str = ""

    @property
    def name(self) -> str:
        return self.labels.value(ALERT_NAME)

    def resolved(self, now: Instant) -> bool:
        """Say whether the alert has ended by `now`."""
        return self.ends_at is not None and self.ends_at <= now
