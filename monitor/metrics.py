"""
What the daemon says of itself, on a registry that is handed in.

Attempts and failures come as a pair; label values come from closed sets or from the configuration, never from a page,
a URL or an error text.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from monitor.upstreammetrics import UpstreamMetrics


class Metrics:
    """All series of the daemon's own /metrics but the standard `process_…` ones."""

    def __init__(self, registry: CollectorRegistry, version: str) -> None:
        self.build_info = Gauge("vllm_monitor_build_info", "The running version.", ["version"], registry=registry)
        self.build_info.labels(version).set(1)
        self.active = Gauge(
            "vllm_monitor_active",
            "Whether it tells anybody, or stands by for another one that does.",
            registry=registry,
        )
        self._scrapes(registry)
        self._discovery(registry)
        self._rules(registry)
        self._notifications(registry)
        self._heartbeats(registry)
        self._life(registry)
        self._integrations: frozenset[str] = frozenset()
        self.registry = registry
        self._upstream: UpstreamMetrics | None = None
        self._jobs: frozenset[str] = frozenset()

    def upstream(self, reasons: tuple[str, ...]) -> UpstreamMetrics:
        """Return the series of a Prometheus that is asked; there are none before the first call."""
        if self._upstream is None:
            self._upstream = UpstreamMetrics(self.registry, reasons)
        return self._upstream

    def watch_size(self, size: Callable[[], tuple[int, int]]) -> None:
        """Let the window's gauges ask `size` for (series, samples) when they are read."""
        self.window_series.set_function(lambda: size()[0])
        self.window_samples.set_function(lambda: size()[1])

    def suppressed(self, reason: str, alerts: int) -> None:
        """A flush left out so many alerts for this reason."""
        self.notifications_suppressed.labels(reason).inc(alerts)

    def limited(self, kind: str, count: int) -> None:
        """So many posted alerts or silences found no room."""
        self.api_limited.labels(kind).inc(count)

    def watch_history(self, size: Callable[[], tuple[int, int, int]]) -> None:
        """Let the history's gauges ask `size` for (bytes, series, chunks) when they are read."""
        self.history_size.set_function(lambda: size()[0])
        self.history_series.set_function(lambda: size()[1])
        self.history_chunks.set_function(lambda: size()[2])

    def refused(self, reason: str) -> None:
        """A request was turned away, for this reason."""
        self.http_refused.labels(reason).inc()

    def no_tls(self) -> None:
        """A connection got no further than its TLS handshake."""
        self.http_refused.labels("tls").inc()

    def show_waiting(self, waiting: Mapping[str, int]) -> None:
        """Show how many notifications wait for each integration there is, and none for one that is gone."""
        for gone in self._integrations - waiting.keys():
            self.notifications_waiting.remove(gone)
        self._integrations = frozenset(waiting)
        for integration, count in waiting.items():
            self.notifications_waiting.labels(integration).set(count)
            # From 0 on, so that the first one is an increase.
            self.notifications_dropped.labels(integration)
            self.messages_simplified.labels(integration)

    def count_simplified(self, integration: str) -> None:
        """Slack refused the form of a message."""
        self.messages_simplified.labels(integration).inc()

    def count_received(self, refused: str) -> None:
        """An Alertmanager posted a message, which was taken, or `refused` for this reason."""
        self.received.inc()
        if refused:
            self.received_refused.labels(refused).inc()

    def count_report(self, failed: str) -> None:
        """A scheduled report was posted, or `failed` for this reason."""
        self.reports.inc()
        if failed:
            self.reports_failed.labels(failed).inc()

    def count_graph(self, failed: str) -> None:
        """A graph was made for a Slack thread, or `failed` for this reason."""
        self.graphs.inc()
        if failed:
            self.graphs_failed.labels(failed).inc()

    def _scrapes(self, registry: CollectorRegistry) -> None:
        self.scrapes = Counter("vllm_monitor_scrapes", "Scrapes tried.", ["job"], registry=registry)
        self.scrapes_failed = Counter(
            "vllm_monitor_scrapes_failed", "Scrapes that failed.", ["job", "reason"], registry=registry
        )
        self.scrapes_skipped = Counter(
            "vllm_monitor_scrapes_skipped", "Slots in which the last scrape still ran.", ["job"], registry=registry
        )
        self.samples_dropped = Counter(
            "vllm_monitor_scrape_samples_dropped",
            "Samples not stored because their time is not after the newest one, or far ahead.",
            ["job"],
            registry=registry,
        )
        self._probes(registry)
        self.window_series = Gauge("vllm_monitor_window_series", "Series held in memory.", registry=registry)
        self.window_samples = Gauge("vllm_monitor_window_samples", "Samples held in memory.", registry=registry)

    def show_targets(self, counts: Mapping[str, tuple[int, int]]) -> None:
        """Show of each job how many targets were found and how many are scraped, and nothing of a job that is gone."""
        for gone in self._jobs - counts.keys():
            self.sd_discovered.remove(gone)
            self.sd_targets.remove(gone)
        self._jobs = frozenset(counts)
        for job, (discovered, scraped) in counts.items():
            self.sd_discovered.labels(job).set(discovered)
            self.sd_targets.labels(job).set(scraped)

    def count_refresh(self, job: str, mechanism: str, reasons: Iterable[str]) -> None:
        """Somebody has looked for targets, and failed for these reasons."""
        self.sd_refreshes.labels(job, mechanism).inc()
        failed = 0
        for reason in reasons:
            self.sd_failures.labels(job, mechanism, reason).inc()
            failed = 1
        self.sd_failing.labels(job, mechanism).set(failed)

    def forget_discovery(self, job: str, mechanism: str) -> None:
        """Nobody looks for targets in this way any more."""
        with suppress(KeyError):
            self.sd_failing.remove(job, mechanism)

    def _discovery(self, registry: CollectorRegistry) -> None:
        self.sd_discovered = Gauge(
            "vllm_monitor_sd_discovered_targets",
            "Targets that were found, before relabelling.",
            ["job"],
            registry=registry,
        )
        self.sd_targets = Gauge("vllm_monitor_sd_targets", "Targets that are scraped.", ["job"], registry=registry)
        self.sd_refreshes = Counter(
            "vllm_monitor_sd_refreshes", "Times targets were looked for.", ["job", "mechanism"], registry=registry
        )
        self.sd_failures = Counter(
            "vllm_monitor_sd_refresh_failures",
            "Times something was not found out; the last targets stay.",
            ["job", "mechanism", "reason"],
            registry=registry,
        )
        self.sd_failing = Gauge(
            "vllm_monitor_sd_failing",
            "Whether the last look for targets failed.",
            ["job", "mechanism"],
            registry=registry,
        )

    def _probes(self, registry: CollectorRegistry) -> None:
        self.probes = Counter(
            "vllm_monitor_probes", "Questions to targets beside their page.", ["job", "probe"], registry=registry
        )
        self.probes_failed = Counter(
            "vllm_monitor_probes_failed",
            "Questions that were not answered as vLLM does.",
            ["job", "probe", "reason"],
            registry=registry,
        )
        self.probes_skipped = Counter(
            "vllm_monitor_probes_skipped", "Slots in which the last round still ran.", ["job"], registry=registry
        )

    def _rules(self, registry: CollectorRegistry) -> None:
        self.evaluations = Counter("vllm_monitor_rule_evaluations", "Rules evaluated.", ["group"], registry=registry)
        self.evaluations_failed = Counter(
            "vllm_monitor_rule_evaluation_failures", "Rules whose evaluation failed.", ["group"], registry=registry
        )
        self.evaluations_missed = Counter(
            "vllm_monitor_rule_evaluations_missed", "Slots in which the rules were not evaluated.", registry=registry
        )
        self.evaluation_seconds = Histogram(
            "vllm_monitor_rule_evaluation_duration_seconds",
            "How long the rules of one slot took.",
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5),
            registry=registry,
        )

    def _notifications(self, registry: CollectorRegistry) -> None:
        self.notifications = Counter(
            "vllm_monitor_notifications", "Attempts to deliver a notification.", ["integration"], registry=registry
        )
        self.notifications_failed = Counter(
            "vllm_monitor_notifications_failed",
            "Attempts that failed.",
            ["integration", "reason"],
            registry=registry,
        )
        self.notifications_dropped = Counter(
            "vllm_monitor_notifications_dropped",
            "Notifications given up because no other attempt would help.",
            ["integration"],
            registry=registry,
        )
        self.notifications_waiting = Gauge(
            "vllm_monitor_notifications_waiting",
            "Notifications not delivered yet.",
            ["integration"],
            registry=registry,
        )
        self.messages_simplified = Counter(
            "vllm_monitor_messages_simplified",
            "Messages that Slack took only in a simpler form.",
            ["integration"],
            registry=registry,
        )
        self.alerts = Gauge("vllm_monitor_alerts", "Alerts by state.", ["state"], registry=registry)

        self.notifications_suppressed = Counter(
            "vllm_monitor_notifications_suppressed",
            "Alerts that a flush left out because they are muted.",
            ["reason"],
            registry=registry,
        )
        self.received = Counter(
            "vllm_monitor_webhooks_received", "Messages that Alertmanagers posted.", registry=registry
        )
        self.received_refused = Counter(
            "vllm_monitor_webhooks_refused",
            "Messages of Alertmanagers that were not taken.",
            ["reason"],
            registry=registry,
        )
        self.silences = Gauge("vllm_monitor_silences", "Silences by state.", ["state"], registry=registry)
        self.http_refused = Counter(
            "vllm_monitor_http_requests_refused",
            "Requests of other people's pages, by a name that is not the daemon's, without credentials or TLS.",
            ["reason"],
            registry=registry,
        )
        self.api_limited = Counter(
            "vllm_monitor_api_limited",
            "Posted alerts and silences that were refused because there are too many.",
            ["kind"],
            registry=registry,
        )

    def _heartbeats(self, registry: CollectorRegistry) -> None:
        self.heartbeats = Counter("vllm_monitor_heartbeats", "Signs of life that were tried.", registry=registry)
        self.heartbeats_failed = Counter(
            "vllm_monitor_heartbeats_failed", "Signs of life that did not arrive.", ["reason"], registry=registry
        )
        self.heartbeats_withheld = Counter(
            "vllm_monitor_heartbeats_withheld",
            "Signs of life that were not given because something is wrong.",
            ["reason"],
            registry=registry,
        )

    def _life(self, registry: CollectorRegistry) -> None:
        self.reports = Counter("vllm_monitor_reports", "Scheduled reports tried, a channel each.", registry=registry)
        self.reports_failed = Counter(
            "vllm_monitor_reports_failed",
            "Scheduled reports that were not posted.",
            ["reason"],
            registry=registry,
        )
        self.graphs = Counter("vllm_monitor_graphs", "Graphs tried for threads in Slack.", registry=registry)
        self.graphs_failed = Counter(
            "vllm_monitor_graphs_failed", "Graphs that were not made.", ["reason"], registry=registry
        )
        self.clock_steps = Counter("vllm_monitor_clock_steps", "Times somebody set the clock.", registry=registry)
        self.state_failures = Counter(
            "vllm_monitor_state_write_failures", "Times the state file could not be written.", registry=registry
        )
        self.state_written = Gauge(
            "vllm_monitor_state_written", "Whether the state file holds everything that it should.", registry=registry
        )
        self.state_written.set(1)
        self._history(registry)
        self.state_set_aside = Gauge(
            "vllm_monitor_state_set_aside",
            "Whether a damaged state file was set aside at the start.",
            registry=registry,
        )
        self.ticks_failed = Counter(
            "vllm_monitor_ticks_failed", "Ticks that ended in an unexpected error.", ["part"], registry=registry
        )
        self.reload_successful = Gauge(
            "vllm_monitor_config_last_reload_successful", "Whether the last reload was accepted.", registry=registry
        )
        self.reload_time = Gauge(
            "vllm_monitor_config_last_reload_success_timestamp_seconds",
            "When a configuration was last accepted.",
            registry=registry,
        )

    def _history(self, registry: CollectorRegistry) -> None:
        self.history_size = Gauge(
            "vllm_monitor_history_size_bytes",
            "Bytes of the state file in use, most of them history.",
            registry=registry,
        )
        self.history_series = Gauge("vllm_monitor_history_series", "Series in the history.", registry=registry)
        self.history_chunks = Gauge("vllm_monitor_history_chunks", "Chunks in the history.", registry=registry)
        self.history_failures = Counter(
            "vllm_monitor_history_write_failures", "Times the history could not be written.", registry=registry
        )
        self.history_damaged = Counter(
            "vllm_monitor_history_chunks_damaged",
            "Chunks that could not be read and were set aside.",
            registry=registry,
        )
        self.history_refused = Counter(
            "vllm_monitor_history_series_refused",
            "Series left out in a minute because the history has too many.",
            registry=registry,
        )
