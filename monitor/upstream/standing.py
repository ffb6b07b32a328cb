"""An alert that no rule raises: raised and ended by hand, and told like those of rules."""

from collections.abc import Mapping
from dataclasses import replace

from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.notify.severity import SEVERITY
from monitor.ownseries import JOB_NAME
from monitor.rules.alerting import RESOLVED_RETENTION


class StandingAlert:
    """
    The alert `name` of the daemon that listens at `instance`; it fires when there has been a reason for `hold`.

    What an earlier life of the daemon raised is told as over when there is no reason: it is nobody's news where nobody
    heard of it.
    """

    def __init__(self, name: str, instance: str, severity: str, hold: Duration) -> None:
        self._labels = Labels.of({ALERT_NAME: name, SEVERITY: severity, JOB: JOB_NAME, INSTANCE: instance})
        self._hold = hold
        self._alert: Alert | None = None
        self._is_first = True
        self.since: Instant | None = None

    @property
    def fires(self) -> bool:
        return self._alert is not None and self._alert.ends_at is None

    def raised(self, at: Instant, annotations: Mapping[str, str]) -> list[Alert]:
        """There is a reason at `at`; return what dispatch must hear of."""
        self._is_first = False
        if self.since is None:
            self.since = at
        if at - self.since < self._hold:
            return []
        begun = self._alert.starts_at if self._alert is not None and self.fires else at
        self._alert = Alert(self._labels, Labels.of(annotations), begun, active_at=self.since)
        return [self._alert]

    def over(self, at: Instant) -> list[Alert]:
        """There is no reason at `at`; return what dispatch must hear of."""
        self.since = None
        if self._is_first:
            self._alert = Alert(self._labels, Labels(), at)
        self._is_first = False
        if self._alert is None:
            return []
        if self._alert.ends_at is None:
            self._alert = replace(self._alert, ends_at=at)
        if at - (self._alert.ends_at or at) > RESOLVED_RETENTION:
            self._alert = None
        return [self._alert] if self._alert is not None else []

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        if self.since is not None:
            self.since += by
        if self._alert is not None:
            self._alert = self._alert.shifted(by)

    def take_over(self, old: "StandingAlert") -> None:
        """Go on where `old` stood."""
        self.since, self._is_first, self._alert = old.since, old._is_first, old._alert  # noqa: SLF001 - the same class
