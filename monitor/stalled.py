"""The alert that no rule can raise: that rules, or scrapes, stand still."""

from dataclasses import replace

from monitor.dispatch.dispatcher import Dispatcher
from monitor.model.alert import Alert
from monitor.model.instant import Instant
from monitor.model.labels import ALERT_NAME, INSTANCE, JOB, Labels
from monitor.notify.heartbeat import Verdict
from monitor.notify.severity import SEVERITY
from monitor.ownseries import JOB_NAME

NAME = "VLLMMonitorStalled"
# So many ticks in a row: a machine that slept, and a daemon that has just begun, are well at the second.
TICKS = 2
_WHAT = {
    Verdict.NO_SCRAPES: ("scrapes no target any more", "no scrapes"),
    Verdict.NO_EVALUATIONS: ("evaluates its rules no more", "no evaluations"),
}


class Stalled:
    """Hears every verdict about the daemon at `instance`, and lets the dispatcher know when it is a bad one twice."""

    def __init__(self, dispatcher: Dispatcher, instance: str) -> None:
        self._dispatcher = dispatcher
        self._instance = instance
        self._bad = 0
        self._raised: Alert | None = None
        self._is_first = True

    def hear(self, verdict: Verdict, now: Instant) -> bool:
        """Take a verdict; returns whether there is something to tell."""
        if verdict in _WHAT:
            self._bad += 1
            if self._bad < TICKS:
                return False
            since = self._raised.starts_at if self._raised is not None else now
            self._raised = self._alert(verdict, since)
            self._dispatcher.insert([self._raised], now)
            return True
        self._bad = 0
        # One of an earlier life may still stand; it is nobody's news where nobody heard of it.
        over = self._raised or (self._alert(Verdict.NO_EVALUATIONS, now) if self._is_first else None)
        self._raised, self._is_first = None, False
        if over is None:
            return False
        self._dispatcher.insert([replace(over, ends_at=now)], now)
        return True

    def _alert(self, verdict: Verdict, since: Instant) -> Alert:
        what, value = _WHAT[verdict]
        labels = {ALERT_NAME: NAME, SEVERITY: "critical", JOB: JOB_NAME, INSTANCE: self._instance}
        annotations = {
            "summary": "vllm-monitor stands still",
            "description": f"vllm-monitor {self._instance} {what}: until it does, nothing else is told of vLLM.\n"
            "Try first: look into its log, then restart it; it goes on where it was.",
            "value": value,
            "threshold": "three intervals",
        }
        return Alert(Labels.of(labels), Labels.of(annotations), since)
