"""What is scraped."""

from dataclasses import dataclass, field

from monitor.model.labels import Labels


@dataclass(frozen=True, slots=True)
class Target:
    """
    One page to fetch.

    `job` is the name of its scrape config. `labels` are what every series of the target carries: `job`, `instance` and
    what discovery added. `discovered_labels` are the labels before relabelling, `__address__` and its kind among them;
    they come and go without the target becoming another one.
    """

    job: str
    url: str
    labels: Labels
    discovered_labels: Labels = field(compare=False)
