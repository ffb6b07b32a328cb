"""A server that speaks the Prometheus HTTP API: Prometheus, Thanos, Mimir, VictoriaMetrics, or the daemon itself."""
