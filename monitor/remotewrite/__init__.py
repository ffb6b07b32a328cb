"""What is kept of the series, to a Prometheus, a Mimir or a VictoriaMetrics: the history is the queue, and on disk."""
