"""What the probes have found, on the daemon's own /metrics."""

from collections.abc import Callable, Iterable

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME
from monitor.probe.loop import ProbeLoop
from monitor.probe.series import HELP


class ProbeCollector(Collector):
    """Shows the series of all targets with the targets' own labels: whoever scrapes them sets `honor_labels`."""

    def __init__(self, probers: Callable[[], Iterable[ProbeLoop]], now: Callable[[], Instant]) -> None:
        self._probers = probers
        self._now = now

    def describe(self) -> Iterable[Metric]:
        return [Metric(name, text, "gauge") for name, text in HELP.items()]

    def collect(self) -> Iterable[Metric]:
        families = {name: Metric(name, text, "gauge") for name, text in HELP.items()}
        now = self._now()
        for prober in self._probers():
            for labels, value in prober.samples(now):
                families[labels.name].add_sample(labels.name, labels.without([METRIC_NAME]).as_dict(), value)
        return [family for family in families.values() if family.samples]
