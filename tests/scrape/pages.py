"""Pages for tests, and what other readers make of them."""

import gzip
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.openmetrics.exposition import ALLOWUTF8, generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as text_families
from prometheus_client.registry import CollectorRegistry

from monitor.model.labels import METRIC_NAME, Labels
from monitor.scrape.shape import Page
from tests.recorded import Recording

PAGES = Path(__file__).parent.parent / "data" / "pages"

Samples = list[tuple[Labels, float]]


@lru_cache
def real_pages() -> dict[str, str]:
    """Return pages of real servers by name, and every tenth of a recorded overload."""
    single = {path.name.removesuffix(".txt.gz"): gzip.decompress(path.read_bytes()).decode() for path in files()}
    return {**single, **{f"second-{k}": page for k, page in enumerate(recorded_pages()) if k % 10 == 0}}


def files() -> Iterable[Path]:
    return sorted(PAGES.glob("*.txt.gz"))


@lru_cache
def recorded_pages() -> list[str]:
    """Return the pages of a recorded overload, one a second."""
    return [page for page in Recording.load("vllm-0.32.0-overload-1s").pages if page is not None]


def samples(page: Page) -> Samples:
    return sorted(zip((series.labels for series in page.series), page.values, strict=True))


def by_client(text: str) -> Samples:
    """Return what prometheus_client reads in a page of the text format."""
    return _sorted(text_families(text))


def by_client_openmetrics(text: str) -> Samples:
    return _sorted(openmetrics_families(text))


def _sorted(families: Iterable[Metric]) -> Samples:
    return sorted(
        (Labels.of({**sample.labels, METRIC_NAME: sample.name}), sample.value)
        for family in families
        for sample in family.samples
    )


def as_openmetrics(text: str) -> str:
    """Return a page of the text format as OpenMetrics, without the `_created` gauges, which it writes differently."""

    class Families:
        def collect(self) -> Iterator[Metric]:
            yield from (family for family in text_families(text) if not family.name.endswith("_created"))

    registry = CollectorRegistry()
    registry.register(Families())
    written: bytes = generate_latest(registry, escaping=ALLOWUTF8)
    return written.decode()
