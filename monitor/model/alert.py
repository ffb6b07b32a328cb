"""An alert on its way from the rules to a receiver."""

from dataclasses import dataclass, replace
from math import nan

from monitor.model.instant import Duration, Instant
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

    def shifted(self, by: Duration) -> "Alert":
        """Return the alert with all its dates moved."""
        return replace(
            self,
            starts_at=self.starts_at + by,
            ends_at=None if self.ends_at is None else self.ends_at + by,
            active_at=None if self.active_at is None else self.active_at + by,
        )

    def resolved(self, now: Instant) -> bool:
        """Say whether the alert has ended by `now`."""
        return self.ends_at is not None and self.ends_at <= now
