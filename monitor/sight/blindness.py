"""Blind rules as series: those that nothing explains, so that each is a reason to change something."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from monitor.model.labels import INSTANCE, JOB
from monitor.sight.report import Finding

NAME = "vllm_monitor_rule_blind"
_HELP = "A rule that cannot find anything on a target, and should be changed."
_LABELS = ("job", "instance", "group", "rule", "reason")


class Blindness(Collector):
    """The series of `vllm_monitor_rule_blind`, one for each finding that nothing explains."""

    def __init__(self, unexplained: Callable[[], Iterable[Finding]]) -> None:
        self._unexplained = unexplained

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Name the family without asking for it: a registry finds it by its name."""
        yield GaugeMetricFamily(NAME, _HELP, labels=_LABELS)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(NAME, _HELP, labels=_LABELS)
        for labels in dict.fromkeys(_labels(one) for one in self._unexplained()):
            family.add_metric(labels, 1.0)
        yield family


def _labels(one: Finding) -> tuple[str, ...]:
    return (one.target.value(JOB), one.target.value(INSTANCE), one.group, one.rule, one.blind.reason.value)
