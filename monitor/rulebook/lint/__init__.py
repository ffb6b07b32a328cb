"""What is wrong with a rule though Prometheus accepts it."""
