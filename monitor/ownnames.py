"""The names of the daemon's own series: rules may read them though no page has them."""

from collections.abc import Iterator
from functools import cache

from prometheus_client import CollectorRegistry

from monitor.buttonmetrics import ButtonMetrics
from monitor.forwardmetrics import ForwardMetrics
from monitor.metrics import Metrics
from monitor.probe.series import HELP
from monitor.remotemetrics import RemoteWriteMetrics
from monitor.sight.blindness import NAME as BLIND
from monitor.upstreammetrics import UpstreamMetrics

_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}


@cache
def own_names() -> frozenset[str]:
    """Return every metric name that the daemon writes of itself and of its targets."""
    return frozenset((*_counted(), *HELP, BLIND))


def _counted() -> Iterator[str]:
    registry = CollectorRegistry()
    Metrics(registry, "")
    ForwardMetrics(registry)
    RemoteWriteMetrics(registry)
    UpstreamMetrics(registry, ())
    ButtonMetrics(registry, (), lambda: (0.0, 0.0))
    for family in registry.collect():
        for suffix in _SUFFIXES.get(family.type, ("",)):
            yield family.name + suffix
