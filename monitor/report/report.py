"""A report as values. Units: ratios 0 to 1, seconds, tokens, minutes where the name says so; None is not known."""

from dataclasses import dataclass

from monitor.model.instant import Instant
from monitor.report.gather import Model
from monitor.report.growth import Growth
from monitor.report.handling import AlertKey, Answered
from monitor.report.period import Period


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest value, and the minute it was first reached in."""

    value: float
    at: Instant


@dataclass(frozen=True, slots=True)
class Hour:
    """The hour with the highest mean, that mean, and the highest within it."""

    mean: float
    at: Instant
    peak: float


@dataclass(frozen=True, slots=True)
class Flow:
    """How much passed: the mean of the minutes that were seen, and the busiest hour."""

    mean: float
    busiest: Hour


@dataclass(frozen=True, slots=True)
class Latency:
    """
    A percentile in seconds (of prompts in tokens).

    Of five minutes each the median and the highest, with when that was; `whole` is of all requests of the period.
    """

    typical: float
    worst: Peak
    whole: float | None = None


@dataclass(frozen=True, slots=True)
class Cache:
    """The KV cache of the fullest engine. `free_requests` of full length still fit at the peak of the busiest hour."""

    peak: Peak | None = None
    busiest: Hour | None = None
    minutes_above_95: int | None = None
    concurrency: float | None = None
    free_requests: float | None = None
    tokens: float | None = None
    max_model_len: float | None = None
    growth: Growth | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """Requests that wait and run, all servers of the model together; `p95` is of the minutes."""

    peak: Peak | None = None
    p95: float | None = None
    most_running: float | None = None
    preemptions: float | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """Requests a minute, tokens a second."""

    requests: Flow | None = None
    prompt_tokens: Flow | None = None
    generated_tokens: Flow | None = None
    error_ratio: float | None = None
    http_5xx_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Prompts:
    """Lengths in tokens, against the limit."""

    limit: int
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: Latency | None = None
    # Between which ratios of the prompts lie above the limit: a histogram knows it exactly at its edges only.
    above_limit: tuple[float, float] | None = None
    # The limit, or max_model_len where that is less; and what one prompt takes of the smallest engine's cache.
    longest: float | None = None
    share_of_longest: float | None = None
    share_of_p99: float | None = None


@dataclass(frozen=True, slots=True)
class ModelReport:
    model: Model
    minutes_seen: int
    cache: Cache
    queue: Queue
    throughput: Throughput
    latencies: dict[str, Latency]
    prompts: Prompts


@dataclass(frozen=True, slots=True)
class Fired:
    """
    An alert that fired; minutes are those it was seen firing in, on any instance.

    `median_minutes` is how long it took to be over, of the times that began and ended in the period. `answered` is
    None where it is not known.
    """

    alert: AlertKey
    times: int
    minutes: int
    longest_minutes: int
    median_minutes: float | None = None
    answered: Answered | None = None


@dataclass(frozen=True, slots=True)
class Report:
    period: Period
    models: tuple[ModelReport, ...]
    alerts: tuple[Fired, ...]
    # Whether anybody could tell who acknowledged what.
    knows_answers: bool = False
