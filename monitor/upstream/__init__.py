"""A Prometheus in the place of the window: what the rules ask it, what becomes of them when it does not answer."""
