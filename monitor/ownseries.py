"""The daemon's own metrics in its own window, so that rules can watch the watcher as a Prometheus would."""

from collections.abc import Callable, Collection, Iterator

from prometheus_client import CollectorRegistry

from monitor.embedded import WindowAppender
from monitor.model.instant import Instant
from monitor.model.labels import INSTANCE, JOB, METRIC_NAME, Labels
from monitor.probe import series

JOB_NAME = "vllm-monitor"
PREFIX = "vllm_monitor_"
OWNER = ("own series",)


class OwnSeries:
    """
    Writes those of the daemon's metrics that rules read; others cost nothing.

    What the probes have found is not written here but by them, in the name of each target.
    `prepare` brings gauges that are computed up to date. `instance` is what a Prometheus would scrape them from.
    """

    def __init__(self, registry: CollectorRegistry, prepare: Callable[[], None], instance: str) -> None:
        self._registry = registry
        self._prepare = prepare
        self._labels = Labels.of({JOB: JOB_NAME, INSTANCE: instance})

    def writer(self, appender: WindowAppender, wanted: Collection[str] | None) -> Callable[[Instant], None]:
        """Return what writes the metrics that `wanted` names (None: all) as of an instant."""
        names = None if wanted is None else frozenset(name for name in wanted if _is_own(name))

        def write(at: Instant) -> None:
            self._prepare()
            appender.append(OWNER, at, list(self._samples(names)))

        return write if names is None or names else lambda _: None

    def _samples(self, names: Collection[str] | None) -> Iterator[tuple[Labels, float]]:
        # Chosen anew each time: a counter with labels has no sample before it first counts.
        source = self._registry if names is None else self._registry.restricted_registry(names)
        for family in source.collect():
            for sample in family.samples:
                if _is_own(sample.name) if names is None else sample.name in names:
                    yield self._labels.with_({**sample.labels, METRIC_NAME: sample.name}), float(sample.value)


def _is_own(name: str) -> bool:
    return name.startswith(PREFIX) and not name.startswith(series.PREFIX)
