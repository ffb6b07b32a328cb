"""What the daemon is told: a file in the words of Prometheus and Alertmanager, or flags and environment variables."""
