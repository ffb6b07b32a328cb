"""`vllm-monitor check --service-discovery`: what is found now, and what relabelling makes of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.commands.table import visible
from monitor.config.scraping import ScrapeConfig
from monitor.discoveries import Discoveries
from monitor.discovery.populate import Discovered, populate
from monitor.discovery.provider import Provider
from monitor.jobs import settings_of, static_groups
from monitor.model.labels import Labels
from monitor.model.relabel import RelabelConfig
from monitor.model.target import Target


@dataclass(frozen=True)
class Looked:
    """One look at a job: what became of each target, and what went wrong on the way."""

    job: str
    rules: Sequence[RelabelConfig]
    found: Sequence[Discovered]
    errors: Sequence[str]

    @property
    def targets(self) -> list[Target]:
        return list({one.target: None for one in self.found if one.target is not None})

    @property
    def works(self) -> bool:
        """Whether nothing failed and something is left to scrape."""
        return bool(self.targets) and not self.errors and not any(one.error for one in self.found)


def look(jobs: Iterable[ScrapeConfig]) -> Iterator[Looked]:
    """Look once for the targets of each job; this may take as long as those who are asked need."""
    for job in jobs:
        providers = Discoveries().providers_of(job)
        for provider in providers:
            provider.step()
            provider.stop()
        settings = settings_of(job)
        groups = [*static_groups(job), *(group for provider in providers for group in provider.groups)]
        found = tuple(populate(groups, settings))
        yield Looked(job.job_name, settings.relabel_configs, found, tuple(map(_told, filter(_failed, providers))))


def _failed(provider: Provider) -> bool:
    return bool(provider.error)


def _told(provider: Provider) -> str:
    return f"{provider.mechanism}_sd_configs: {provider.error}"


def as_json(looked: Looked) -> list[dict[str, Any]]:
    """Return what `promtool check service-discovery` prints of a job."""
    return [
        {
            "discoveredLabels": one.discovered_labels.as_dict(),
            "labels": one.labels.as_dict(),
            **({"error": one.error} if one.error else {}),
        }
        for one in looked.found
    ]


def lines(looked: Looked) -> Iterator[str]:
    """Yield what a person reads: a line for each target, and below it what it was found with."""
    yield f'job "{looked.job}": {len(looked.found)} found, {len(looked.targets)} to scrape'
    yield from (f"  {error}" for error in looked.errors)
    for one in looked.found:
        yield f"  {visible(_became(one, looked.rules))}"
        yield f"      from {visible(str(one.discovered_labels))}"


def _became(found: Discovered, rules: Sequence[RelabelConfig]) -> str:
    if found.error:
        return f"cannot be scraped: {found.error}"
    if found.target is None:
        return _dropped(found.discovered_labels, rules)
    return f"{found.target.url} {found.target.labels}"


def _dropped(labels: Labels, rules: Sequence[RelabelConfig]) -> str:
    """Say which rule it was, and what it looked at."""
    changed = labels.as_dict()
    for number, rule in enumerate(rules, 1):
        seen = rule.value(changed)
        if not rule.apply(changed):
            return f'dropped by relabel config {number} ({rule.action} of "{seen}")'
    return "dropped"
