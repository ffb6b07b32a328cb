"""Finds what to scrape (in files, behind a URL, in the DNS, in Kubernetes), and what relabelling makes of it."""
