"""What is counted of remote write."""

from prometheus_client import CollectorRegistry, Counter, Gauge

from monitor.model.instant import Duration, to_seconds


class RemoteWriteMetrics:
    """By receiver; `reason` comes from a closed set."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._samples = Counter(
            "vllm_monitor_remote_write_samples", "Samples that were sent.", ["remote"], registry=registry
        )
        self._failed = Counter(
            "vllm_monitor_remote_write_samples_failed",
            "Samples that a receiver refused for good.",
            ["remote", "reason"],
            registry=registry,
        )
        self._retries = Counter(
            "vllm_monitor_remote_write_retries",
            "Requests that failed and will be sent again.",
            ["remote", "reason"],
            registry=registry,
        )
        self._behind = Gauge(
            "vllm_monitor_remote_write_behind_seconds",
            "How much of what is kept a receiver has not got.",
            ["remote"],
            registry=registry,
        )

    def sent(self, name: str, samples: int) -> None:
        self._samples.labels(name).inc(samples)

    def failed(self, name: str, samples: int, reason: str) -> None:
        self._failed.labels(name, reason).inc(samples)

    def retried(self, name: str, reason: str) -> None:
        self._retries.labels(name, reason).inc()

    def show_behind(self, name: str, behind: Duration) -> None:
        self._behind.labels(name).set(to_seconds(behind))

    def forget(self) -> None:
        """Others are written to from now on."""
        self._behind.clear()
