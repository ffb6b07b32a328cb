"""Whether Prometheus answers, and the alert that it does not."""

import threading

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant, format_duration
from monitor.remote.errors import RemoteError
from monitor.upstream.standing import StandingAlert

NAME = "VLLMMonitorPrometheusDown"
# A Prometheus that is restarted reads its log anew first.
HOLD: Duration = MINUTE


class Outage:
    """
    Hears what became of every question, and says after each evaluation what there is to tell of it.

    An evaluation is good when every question of it was answered; the alert fires when none has been for HOLD.
    """

    def __init__(self, server: str, instance: str) -> None:
        self._server = server
        self._alert = StandingAlert(NAME, instance, "critical", HOLD)
        self._lock = threading.Lock()
        self._answered = self._unanswered = 0
        self._worst: RemoteError | None = None
        # When an evaluation last was good; None before the first.
        self.answered_at: Instant | None = None

    def note(self, error: RemoteError | None) -> None:
        """A question was answered, or failed. Safe to call from any thread."""
        with self._lock:
            if error is not None and error.is_outage:
                self._worst = error
                self._unanswered += 1
            else:
                self._answered += 1

    @property
    def is_down(self) -> bool:
        return self._alert.since is not None

    def alerts(self, at: Instant) -> list[Alert]:
        """Return what dispatch must hear of after the evaluation at `at`."""
        with self._lock:
            answered, unanswered, worst = self._answered, self._unanswered, self._worst
            self._answered, self._unanswered, self._worst = 0, 0, None
        if worst is not None:
            return self._alert.raised(at, self._texts(worst, at, answered, unanswered))
        if not answered:
            # Nothing was asked: whatever was, is.
            return []
        self.answered_at = at
        return self._alert.over(at)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._alert.shift(by)
        if self.answered_at is not None:
            self.answered_at += by

    def take_over(self, old: "Outage") -> None:
        """Go on where `old` stood, whose server may have been another one."""
        self._alert.take_over(old._alert)  # noqa: SLF001 - the same class
        self.answered_at = old.answered_at

    def _texts(self, error: RemoteError, at: Instant, answered: int, unanswered: int) -> dict[str, str]:
        since = self._alert.since
        lasts = format_duration(at - since if since is not None else 0)
        if answered:
            summary = "Prometheus leaves some of vllm-monitor's questions unanswered"
            which = f"{unanswered} of {answered + unanswered} questions have no answer: their alerts stay as they were"
        else:
            summary = "Prometheus does not answer vllm-monitor"
            which = "The alerts of vLLM stay as they were when it last answered"
        return {
            "summary": summary,
            "description": f"{error}; for {lasts}. {which}: none ends, and no new one begins.\n"
            f"Try first: curl '{self._server}/api/v1/query?query=1' from the machine of vllm-monitor; then compare "
            "url, credentials and timeout below prometheus in its configuration.",
            "value": error.reason.value.replace("_", " "),
            "threshold": "one minute",
        }
