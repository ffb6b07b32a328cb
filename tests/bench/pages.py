"""A page from bytes to the window, against prometheus_client's parser: medians over a recorded overload."""

import gzip
import json
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from pathlib import Path
from statistics import median

from prometheus_client.parser import text_string_to_metric_families

from monitor.clock import monotonic_seconds
from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.scrape.options import ScrapeOptions
from monitor.scrape.target import Answer, ScrapeLoop
from monitor.storage.window import Window

RECORDING = Path(__file__).parent.parent / "data" / "recordings" / "vllm-0.32.0-overload-1s.jsonl.gz"
# The seconds of the recording in which fifty clients kept the server in overload: most values change every second.
OVERLOAD = range(110, 210)
CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
TARGET = Target("vllm", "http://127.0.0.1:8000/metrics", Labels.of(job="vllm", instance="127.0.0.1:8000"), Labels())
BUDGET = 0.5
AT_LEAST_FASTER = 20
# A few dozen targets at once must not stand in each other's way at the start.
FIRST_BUDGET = 15.0


@lru_cache
def pages() -> list[bytes]:
    with gzip.open(RECORDING, "rt") as lines:
        bodies = [json.loads(line)["body"] for line in lines]
    return [body.encode() for body in bodies if body is not None]


def milliseconds(work: Callable[[], object]) -> float:
    begun = monotonic_seconds()
    work()
    return (monotonic_seconds() - begun) * 1000


def _exhaust(text: str) -> None:
    for _ in text_string_to_metric_families(text):
        pass


def by_client() -> list[float]:
    """Return how long prometheus_client's parser took for each page of the overload."""
    texts = [pages()[k].decode() for k in OVERLOAD]
    return [milliseconds(partial(_exhaust, text)) for text in texts]


def scrapes(wanted: Collection[str] | None) -> list[float]:
    """Return how long each scrape of the recording took, but for the network."""
    answers = iter(pages())
    loop = ScrapeLoop(
        TARGET,
        ScrapeOptions(),
        Window(),
        lambda: Answer(next(answers), CONTENT_TYPE),
        wanted=wanted,
        seconds=lambda: 0.0,
    )
    return [milliseconds(partial(loop.scrape, at)) for at in range(1, len(pages()) + 1)]


def engine_metrics() -> frozenset[str]:
    """Return what rules and dashboards could ask of the server: all of its own metrics but creation times."""
    names = {line.partition("{")[0] for line in pages()[-1].decode().splitlines() if line.startswith("vllm:")}
    return frozenset(name for name in names if not name.endswith("_created"))


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured, the figure and its budget."""
    engine, everything = scrapes(engine_metrics()), scrapes(None)
    ours, client = median(everything[k] for k in OVERLOAD), median(by_client())
    return [
        (
            "page: parse + ingest, the engine's metrics, overload",
            f"{median(engine[k] for k in OVERLOAD):.3f} ms",
            f"≤ {BUDGET} ms",
        ),
        ("page: parse + ingest, all metrics, overload", f"{ours:.3f} ms", f"≤ {BUDGET} ms"),
        ("page: parse + ingest, all metrics, whole recording", f"{median(everything):.3f} ms", f"≤ {BUDGET} ms"),
        ("page: parse + ingest, the first page of a target", f"{everything[0]:.1f} ms", f"≤ {FIRST_BUDGET:.0f} ms"),
        ("page: prometheus_client's parser, overload", f"{client:.2f} ms", ""),
        ("page: that, divided by our parse + ingest", f"{client / ours:.0f} times", f"≥ {AT_LEAST_FASTER} times"),
    ]
