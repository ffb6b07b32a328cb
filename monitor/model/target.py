"""What is scraped."""

from dataclasses import dataclass

from monitor.model.labels import Labels


@dataclass(frozen=True, slots=True)
class Target:
    """
    One page to fetch.

    `labels` are what every series of the target carries: `job`, `instance` and what discovery added.
    `discovered_labels` are the labels before relabelling, `__address__` and its kind among them.
    """

    job: str
    url: str
    labels: Labels
    discovered_labels: Labels
