"""Slots that follow one another, as /metrics tells of them."""

import re
from dataclasses import dataclass


@dataclass
class InARow:
    """Looks for so many evaluations in a row; a machine that has stood still for a while may miss some before them."""

    count: int
    _missed: float = -1
    _done: float = 0

    def seen(self, metrics: str) -> bool:
        """Whether so many were made since the last one that was missed; to be asked again and again."""
        missed = _value(metrics, "vllm_monitor_rule_evaluations_missed_total")
        done = _value(metrics, "vllm_monitor_rule_evaluation_duration_seconds_count")
        if missed != self._missed:
            self._missed, self._done = missed, done
        return done - self._done >= self.count


def _value(metrics: str, name: str) -> float:
    (found,) = re.findall(rf"^{name} (\S+)$", metrics, re.MULTILINE)
    return float(found)
