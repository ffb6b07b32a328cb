"""What the daemon says of the Alertmanagers that it sends alerts to: made when there are some."""

import threading
from collections import Counter as Tally

from prometheus_client import CollectorRegistry, Counter, Gauge, Summary


class ForwardMetrics:
    """Prometheus' own series of its notifier (`prometheus_notifications_…`) under our name."""

    def __init__(self, registry: CollectorRegistry) -> None:
        names, prefix = ["alertmanager"], "vllm_monitor_alertmanager_"
        self.sent = Counter(prefix + "sent", "Alerts that were sent, failures among them.", names, registry=registry)
        self.errors = Counter(prefix + "errors", "Alerts whose sending failed.", names, registry=registry)
        self.dropped = Counter(
            prefix + "dropped", "Alerts that were not sent, or whose sending failed.", names, registry=registry
        )
        self.latency = Summary(prefix + "latency_seconds", "How long a sending took.", names, registry=registry)
        self.queue = Gauge(prefix + "queue_length", "Alerts that wait to be sent.", names, registry=registry)
        self.capacity = Gauge(
            prefix + "queue_capacity", "Alerts that may wait for each Alertmanager.", registry=registry
        )
        # How many lines have this name: one that ends may have a successor already.
        self._lines = Tally[str]()
        self._lock = threading.Lock()

    def begin(self, name: str) -> None:
        """Show an Alertmanager from 0 on, so that the first failure is an increase."""
        with self._lock:
            self._lines[name] += 1
            for series in (self.sent, self.errors, self.dropped, self.latency, self.queue):
                series.labels(name)

    def end(self, name: str) -> None:
        """Show one that is gone no more."""
        with self._lock:
            self._lines[name] -= 1
            if self._lines[name]:
                return
            del self._lines[name]
            for series in (self.sent, self.errors, self.dropped, self.latency, self.queue):
                series.remove(name)
