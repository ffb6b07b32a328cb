"""Whether Prometheus answers, and the alert that it does not."""

import threading
from dataclasses import dataclass

from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Duration, Instant, format_duration
from monitor.remote.errors import RemoteError
from monitor.upstream.standing import StandingAlert

NAME = "VLLMMonitorPrometheusDown"
# A Prometheus that is restarted reads its log anew first.
HOLD: Duration = MINUTE


@dataclass
class _Tally:
    """What became of the questions of one evaluation; `worst` is why one has no answer."""

    answered: int = 0
    unanswered: int = 0
    worst: RemoteError | None = None


class Outage:
    """
    Hears what became of every question, and says after each evaluation what there is to tell of it.

    An evaluation is good when every question of it was answered. Groups of different intervals are evaluated each at
    their own instants, and what one of them lacks the others cannot make up for: it is over when all are good again.
    """

    def __init__(self, server: str, instance: str) -> None:
        self._server = server
        self._alert = StandingAlert(NAME, instance, "critical", HOLD)
        self._lock = threading.Lock()
        self._now = _Tally()
        # By the interval of their groups: the evaluations that were not good when they last were; the newest is last.
        self._failing: dict[Duration | None, tuple[RemoteError, _Tally]] = {}
        # When an evaluation last was good; None before the first.
        self.answered_at: Instant | None = None

    def note(self, error: RemoteError | None) -> None:
        """A question was answered, or failed. Safe to call from any thread."""
        with self._lock:
            if error is not None and error.is_outage:
                self._now.worst = error
                self._now.unanswered += 1
            else:
                self._now.answered += 1

    @property
    def is_down(self) -> bool:
        return self._alert.since is not None

    def alerts(self, at: Instant, interval: Duration | None = None) -> list[Alert]:
        """Return what dispatch must hear of after the evaluation of the groups of `interval` (None: all) at `at`."""
        with self._lock:
            tally, self._now = self._now, _Tally()
        if not tally.answered and tally.worst is None:
            # Nothing was asked: whatever was, is.
            return []
        for known in (interval, None) if interval is not None else tuple(self._failing):
            self._failing.pop(known, None)
        if tally.worst is not None:
            self._failing[interval] = tally.worst, tally
        if not self._failing:
            self.answered_at = at
            return self._alert.over(at)
        if tally.worst is None and not self._alert.fires:
            # That is for the others to say, when it is their turn.
            return []
        return self._alert.raised(at, self._texts(*list(self._failing.values())[-1], at))

    def shift(self, by: Duration) -> None:
        """The clock was set by so much."""
        self._alert.shift(by)
        if self.answered_at is not None:
            self.answered_at += by

    def take_over(self, old: "Outage") -> None:
        """Go on where `old` stood, whose server may have been another one."""
        self._alert.take_over(old._alert)  # noqa: SLF001 - the same class
        self.answered_at = old.answered_at

    def _texts(self, error: RemoteError, tally: _Tally, at: Instant) -> dict[str, str]:
        since = self._alert.since
        lasts = format_duration(at - since if since is not None else 0)
        if tally.answered:
            asked = tally.answered + tally.unanswered
            summary = "Prometheus leaves some of vllm-monitor's questions unanswered"
            which = f"{tally.unanswered} of {asked} questions have no answer: their alerts stay as they were"
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
