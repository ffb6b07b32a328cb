"""Series of a fleet of vLLM servers, for our window and for a Prometheus alike."""

from collections.abc import Iterable, Sequence
from random import Random

from monitor.model.instant import SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.model.matcher import equal
from monitor.storage.column import Block, Column
from monitor.storage.window import Window

NOW: Instant = 1_700_000_040_000
BUCKETS = "vllm:time_to_first_token_seconds_bucket"
_BOUNDS = (
    *("0.001", "0.005", "0.01", "0.02", "0.04", "0.06", "0.08", "0.1", "0.25", "0.5", "0.75"),
    *("1.0", "2.5", "5.0", "7.5", "10.0", "20.0", "40.0", "80.0", "160.0", "640.0", "+Inf"),
)
_MODELS = ("qwen3-8b", "qwen3-32b", "llama-3.3-70b", "gpt-oss-120b")


def write_histograms(window: Window, job: str, *, targets: int, samples: int, interval: Duration) -> None:
    """Write the 22 buckets of `targets` servers, `samples` of each, up to `NOW`; now and then a server restarts."""
    for number in range(targets):
        block = window.block((job, number))
        columns = [block.column(_labels(BUCKETS, job, number, le=le), counter=True) for le in _BOUNDS]
        _write(block, columns, Random(number), samples, interval)  # noqa: S311 - it must be repeatable


def write_counters(window: Window, name: str, job: str, *, targets: int, series: int, samples: int) -> None:
    """Write `series` counters of each of `targets` servers, every five seconds up to `NOW`."""
    for number in range(targets):
        block = window.block((job, number))
        columns = [block.column(_labels(name, job, number, path=f"/{k}"), counter=True) for k in range(series)]
        _write(block, columns, Random(number), samples, 5 * SECOND)  # noqa: S311 - it must be repeatable


def samples_of(window: Window, job: str) -> list[tuple[Labels, Sequence[tuple[Instant, float]]]]:
    """Return all series of a job with their samples."""
    found = window.select((equal("job", job),))
    return [(column.labels, list(zip(*column.between(0, NOW), strict=True))) for column in found]


def _labels(name: str, job: str, number: int, **more: str) -> Labels:
    own = {"__name__": name, "job": job, "instance": f"vllm-{number}:8000", "engine": "0"}
    return Labels.of(own, model_name=_MODELS[number % len(_MODELS)], **more)


def _write(block: Block, columns: Sequence[Column], random: Random, samples: int, interval: Duration) -> None:
    counts = [0.0] * len(columns)
    for number in range(samples):
        if random.random() < 0.002:
            counts = [0.0] * len(columns)
        counts = list(_grown(counts, random))
        block.append(NOW - (samples - 1 - number) * interval, columns, counts)


def _grown(counts: Iterable[float], random: Random) -> Iterable[float]:
    """Yield counts that rise from bucket to bucket, as those of a histogram do."""
    added = 0
    for count in counts:
        added += random.random() < 0.3
        yield count + added
