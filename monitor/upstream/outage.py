"""The alert that no rule can raise: that Prometheus does not answer."""

import threading
from dataclasses import replace

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant, format_duration
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.ownseries import JOB_NAME
from monitor.remote.errors import RemoteError
from monitor.rules.alerting import RESOLVED_RETENTION

NAME = "VLLMMonitorPrometheusDown"
# A Prometheus that is restarted reads its log anew first.
HOLD: Duration = MINUTE


class Outage:
    """
    Hears what became of every question, and says after each evaluation what there is to tell of it.

    An evaluation is good when every question of it was answered; the alert fires when none has been for HOLD.
    """

    def __init__(self, server: str, instance: str, severity: str = "critical") -> None:
        self._server = server
        self._labels = Labels.of({ALERT_NAME: NAME, "severity": severity, JOB: JOB_NAME, INSTANCE: instance})
        self._lock = threading.Lock()
        self._heard = False
        self._worst: RemoteError | None = None
        self._bad_since: Instant | None = None
        self._alert: Alert | None = None
        self._is_first = True
        # When an evaluation last was good; None before the first.
        self.answered_at: Instant | None = None

    def note(self, error: RemoteError | None) -> None:
        """A question was answered, or failed. Safe to call from any thread."""
        with self._lock:
            self._heard = True
            if error is not None and error.is_outage:
                self._worst = error

    @property
    def is_down(self) -> bool:
        return self._bad_since is not None

    def alerts(self, at: Instant) -> list[Alert]:
        """Return what dispatch must hear of after the evaluation at `at`."""
        with self._lock:
            heard, worst = self._heard, self._worst
            self._heard, self._worst = False, None
        if worst is not None:
            return self._failed(worst, at)
        if heard:
            self._recovered(at)
        return self._told_as_over(at)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        if self._bad_since is not None:
            self._bad_since += by
        if self.answered_at is not None:
            self.answered_at += by
        if self._alert is not None:
            self._alert = self._alert.shifted(by)

    def take_over(self, old: "Outage") -> None:
        """Go on where `old` stood, whose server may have been another one."""
        self._bad_since, self._is_first, self.answered_at = old._bad_since, old._is_first, old.answered_at  # noqa: SLF001 - the same class
        self._alert = old._alert  # noqa: SLF001 - the same

    def _failed(self, error: RemoteError, at: Instant) -> list[Alert]:
        if self._bad_since is None:
            self._bad_since = at
        if at - self._bad_since < HOLD:
            return []
        since = self._alert.starts_at if self._alert is not None and self._alert.ends_at is None else at
        self._alert = self._firing(error, since, at)
        return [self._alert]

    def _recovered(self, at: Instant) -> None:
        self._bad_since, self.answered_at = None, at
        if self._alert is None and self._is_first:
            # One of an earlier life may still stand; it is nobody's news where nobody heard of it.
            self._alert = Alert(self._labels, Labels(), at)
        self._is_first = False
        if self._alert is not None and self._alert.ends_at is None:
            self._alert = replace(self._alert, ends_at=at)

    def _told_as_over(self, at: Instant) -> list[Alert]:
        alert = self._alert
        if alert is None or alert.ends_at is None:
            return []
        if at - alert.ends_at > RESOLVED_RETENTION:
            self._alert = None
            return []
        return [alert]

    def _firing(self, error: RemoteError, since: Instant, at: Instant) -> Alert:
        lasts = format_duration(at - (self._bad_since or at))
        annotations = {
            "summary": "Prometheus does not answer vllm-monitor",
            "description": f"{error}; for {lasts}. The alerts of vLLM stay as they were when it last answered: none "
            f"ends, and no new one begins.\nTry first: curl '{self._server}/api/v1/query?query=1' from the machine of "
            "vllm-monitor; then compare url, credentials and timeout below prometheus in its configuration.",
            "value": error.reason.value.replace("_", " "),
            "threshold": "one minute",
        }
        return Alert(self._labels, Labels.of(annotations), since, active_at=self._bad_since or since)
