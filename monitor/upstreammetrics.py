"""What the daemon says of the Prometheus that it asks: made where there is one, so that nobody else sees a zero."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class UpstreamMetrics:
    """Series on the daemon's registry. `reasons` are why there may be no answer."""

    def __init__(self, registry: CollectorRegistry, reasons: tuple[str, ...]) -> None:
        self.up = Gauge(
            "vllm_monitor_prometheus_up",
            "Whether every question of the last evaluations was answered.",
            registry=registry,
        )
        self.queries = Counter("vllm_monitor_prometheus_queries", "Questions to Prometheus.", registry=registry)
        self.failures = Counter(
            "vllm_monitor_prometheus_query_failures", "Questions without an answer.", ["reason"], registry=registry
        )
        for reason in reasons:
            # From 0 on, so that the first one is an increase.
            self.failures.labels(reason)
        self.partial = Counter(
            "vllm_monitor_prometheus_partial_answers", "Answers from a part of the data.", registry=registry
        )
        self.seconds = Histogram(
            "vllm_monitor_prometheus_query_duration_seconds",
            "How long an answer took, with all attempts.",
            buckets=(0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
            registry=registry,
        )
        self.clock_offset = Gauge(
            "vllm_monitor_prometheus_clock_offset_seconds",
            "How far the clock of Prometheus is ahead of ours; 0 within two seconds.",
            registry=registry,
        )
        self.missing = Gauge(
            "vllm_monitor_prometheus_recorded_names_missing",
            "Recorded names that rules read and Prometheus does not have: its rule files are not loaded.",
            registry=registry,
        )
