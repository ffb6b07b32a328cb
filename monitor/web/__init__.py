"""The HTTP side: the daemon's own metrics, its health, and what it knows, in the JSON of Prometheus."""
