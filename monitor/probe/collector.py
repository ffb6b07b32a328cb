"""What the probes have found, on the daemon's own /metrics."""

from collections.abc import Callable, Iterable

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.probe.loop import ProbeLoop
from monitor.probe.series import HELP


class ProbeCollector(Collector):
    """
    Shows the series of all targets with the targets' own labels: whoever scrapes them sets `honor_labels`.

    Relabelling may give two targets the same labels (two ports of a pod, named after the pod). A series that is there
    twice would make the page invalid: it is the first one's, as in the window.
    """

    def __init__(self, probers: Callable[[], Iterable[ProbeLoop]], now: Callable[[], Instant]) -> None:
        self._probers = probers
        self._now = now

    def describe(self) -> Iterable[Metric]:
        return [Metric(name, text, "gauge") for name, text in HELP.items()]

    def collect(self) -> Iterable[Metric]:
        families = {name: Metric(name, text, "gauge") for name, text in HELP.items()}
        now = self._now()
        seen: set[Labels] = set()
        for prober in self._probers():
            for labels, value in prober.samples(now):
                if labels in seen:
                    continue
                seen.add(labels)
                families[labels.name].add_sample(labels.name, labels.without([METRIC_NAME]).as_dict(), value)
        return [family for family in families.values() if family.samples]
