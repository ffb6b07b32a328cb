"""What the page that is scraped anyway says of the KV cache and of the process."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from monitor.model.labels import Labels
from monitor.probe.pools import CONFIG_NAMES
from monitor.scrape.shape import Page, Series

START_TIME = "process_start_time_seconds"
# The metrics to keep of a page for the probes' sake.
PAGE_NAMES = frozenset((*CONFIG_NAMES, START_TIME))
# A page of a thousand engines is none of vLLM's.
MOST_ENGINES = 512
LONGEST_ENGINE = 64


class _Seen(NamedTuple):
    """What the series of a page are about; replaced whole, since several threads ask."""

    series: Sequence[Series] = ()
    configs: tuple[Labels, ...] = ()
    start_slot: int | None = None


class PageFacts:
    """Reads the newest page of one target; its series are gone through only when they are others than before."""

    def __init__(self, newest: Callable[[], Page]) -> None:
        self._newest = newest
        self._seen = _Seen()

    def configs(self) -> tuple[Labels, ...]:
        """Return the labels of the page's `cache_config_info`; the same object comes back while they stay."""
        return self._look(self._newest()).configs

    def has_page(self) -> bool:
        """Say whether the last scrape went well."""
        return bool(self._newest().series)

    def started(self) -> float | None:
        """Return when the process started, in Unix seconds; None where the page does not say it."""
        page = self._newest()
        slot = self._look(page).start_slot
        return page.values[slot] if slot is not None else None

    def _look(self, page: Page) -> _Seen:
        seen = self._seen
        if page.series is not seen.series:
            named = [(slot, one.labels) for slot, one in enumerate(page.series) if one.labels.name in PAGE_NAMES]
            configs = tuple(labels for _, labels in named if is_config(labels))[:MOST_ENGINES]
            start_slot = next((slot for slot, labels in named if labels.name == START_TIME), None)
            self._seen = seen = _Seen(page.series, configs, start_slot)
        return seen


def is_config(labels: Labels) -> bool:
    """Tell whether a series is the configuration of an engine's cache."""
    return labels.name in CONFIG_NAMES and len(labels.value("engine")) <= LONGEST_ENGINE
