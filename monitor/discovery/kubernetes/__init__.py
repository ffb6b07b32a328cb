"""Targets in a Kubernetes cluster: what the API server lists and watches, and the labels that become of it."""
