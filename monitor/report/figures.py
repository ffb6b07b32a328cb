"""From answers to a report; nothing here asks or prints."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from monitor.model.instant import HOUR, MINUTE, Instant
from monitor.report.distribution import Counts, percentile, share_above
from monitor.report.gather import Gathered, Model, Track
from monitor.report.growth import growth_of
from monitor.report.handling import AlertKey, Answered, answered
from monitor.report.period import Period
from monitor.report.questions import Distribution, Question
from monitor.report.report import (
    Cache,
    Fired,
    Flow,
    Hour,
    Latency,
    ModelReport,
    Peak,
    Prompts,
    Queue,
    Report,
    Throughput,
)

INPUT_LIMIT = 15_000
ALMOST_FULL = 0.95
_SECONDS = 60
_SEEN_BY = (Question.KV_P90, Question.WAITING, Question.ENDED)
_PERCENTILES = {
    "TTFT p50": (Question.TTFT_P50, Distribution.TTFT, 0.5),
    "TTFT p95": (Question.TTFT_P95, Distribution.TTFT, 0.95),
    "TTFT p99": (Question.TTFT_P99, Distribution.TTFT, 0.99),
    "inter-token p50": (Question.ITL_P50, Distribution.ITL, 0.5),
    "inter-token p95": (Question.ITL_P95, Distribution.ITL, 0.95),
    "inter-token p99": (Question.ITL_P99, Distribution.ITL, 0.99),
    "e2e p50": (Question.E2E_P50, Distribution.E2E, 0.5),
    "e2e p95": (Question.E2E_P95, Distribution.E2E, 0.95),
    "e2e p99": (Question.E2E_P99, Distribution.E2E, 0.99),
}


def report_of(found: Gathered, limit: int = INPUT_LIMIT) -> Report:
    """Return the report of what was answered; `limit` is the longest prompt that is wanted, in tokens."""
    models = sorted({model for question in _SEEN_BY for model in found.tracks.get(question, ())})
    start, end = found.period.start, found.period.end
    answers = answered(found.handlings or (), start, end)
    alerts = sorted(
        (_fired(key, track, found.period, answers.get(key)) for key, track in found.alerts.items() if track),
        key=_most_first,
    )
    reports = tuple(_model(found, model, limit) for model in models)
    return Report(found.period, reports, tuple(alerts), knows_answers=found.handlings is not None)


def quantile(values: Iterable[float], ratio: float) -> float | None:
    """Return a quantile between the two nearest values, as PromQL does."""
    ranked = sorted(values)
    if not ranked:
        return None
    place = ratio * (len(ranked) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (place - low)


def hours_of(track: Track) -> dict[Instant, Sequence[float]]:
    """Return the values of each hour, by its beginning, in order; a minute belongs to where it began."""
    hours: dict[Instant, list[float]] = {}
    for at, value in sorted(track.items()):
        hours.setdefault((at - 1) // HOUR * HOUR, []).append(value)
    return dict(hours)


def _model(found: Gathered, model: Model, limit: int) -> ModelReport:
    def track(question: Question) -> Track:
        return found.track(question, model)

    cache = _cache(found, model)
    latencies = {
        name: _latency(track(question), percentile(found.counts(distribution, model), ratio))
        for name, (question, distribution, ratio) in _PERCENTILES.items()
    }
    return ModelReport(
        model,
        max(len(track(question)) for question in _SEEN_BY),
        cache,
        Queue(
            _peak(track(Question.WAITING_PEAK)),
            quantile(track(Question.WAITING).values(), ALMOST_FULL),
            max(track(Question.RUNNING).values(), default=None),
            sum(track(Question.PREEMPTIONS).values()) * _SECONDS if track(Question.PREEMPTIONS) else None,
        ),
        Throughput(
            _flow(track(Question.ENDED), _SECONDS),
            _flow(track(Question.PROMPT_TOKENS)),
            _flow(track(Question.GENERATED_TOKENS)),
            # Versions that know errors show them from the start, at zero; an HTTP status comes with the first of it.
            _share(track(Question.FAILED), track(Question.ENDED)) if track(Question.FAILED) else None,
            _share(track(Question.ANSWERED_5XX), track(Question.ANSWERED)),
        ),
        {name: latency for name, latency in latencies.items() if latency is not None},
        _prompts(track, found.counts(Distribution.PROMPT, model), cache, limit),
    )


def _cache(found: Gathered, model: Model) -> Cache:
    peaks, usage = found.track(Question.KV_PEAK, model), found.track(Question.KV_P90, model)
    busiest = _busiest(peaks)
    concurrency = _last(found.track(Question.CONCURRENCY, model))
    free = None if concurrency is None or busiest is None else max(1 - busiest.peak, 0.0) * concurrency
    daily = found.daily.get(model)
    return Cache(
        _peak(peaks),
        busiest,
        sum(value > ALMOST_FULL for value in usage.values()) if usage else None,
        concurrency,
        free,
        _last(found.track(Question.KV_TOKENS, model)),
        _last(found.track(Question.MAX_MODEL_LEN, model)),
        growth_of(daily, found.period.end) if daily else None,
    )


def _prompts(track: Callable[[Question], Track], counts: Counts, cache: Cache, limit: int) -> Prompts:
    tokens, longest = cache.tokens, min(limit, cache.max_model_len or limit)
    p99 = _latency(track(Question.PROMPT_P99), percentile(counts, 0.99))
    return Prompts(
        limit,
        quantile(track(Question.PROMPT_MEAN).values(), 0.5),
        percentile(counts, 0.5),
        percentile(counts, 0.95),
        p99,
        share_above(counts, limit),
        longest,
        longest / tokens if tokens else None,
        p99.worst.value / tokens if tokens and p99 else None,
    )


def _peak(track: Track) -> Peak | None:
    if not track:
        return None
    at = min(track, key=lambda at: (-track[at], at))
    return Peak(track[at], at - MINUTE)


def _busiest(track: Track) -> Hour | None:
    # An hour of which little was seen is not the busiest one for a single minute: what is missing counts as nothing.
    # Where no hour was seen whole, the fullest of them stand for it.
    hours = hours_of(track)
    if not hours:
        return None
    most = max(len(values) for values in hours.values())
    means = {at: sum(values) / most for at, values in hours.items()}
    at = min(means, key=lambda at: (-means[at], at))
    return Hour(sum(hours[at]) / len(hours[at]), at, max(hours[at]))


def _flow(track: Track, factor: float = 1.0) -> Flow | None:
    busiest = _busiest(track)
    if busiest is None:
        return None
    mean = sum(track.values()) / len(track)
    return Flow(mean * factor, Hour(busiest.mean * factor, busiest.at, busiest.peak * factor))


def _latency(track: Track, whole: float | None) -> Latency | None:
    typical, worst = quantile(track.values(), 0.5), _peak(track)
    return None if typical is None or worst is None else Latency(typical, worst, whole)


def _share(part: Track, whole: Track) -> float | None:
    total = sum(whole.values())
    return sum(part.values()) / total if total > 0 else None


def _last(track: Track) -> float | None:
    return track[max(track)] if track else None


def _fired(key: AlertKey, track: Mapping[Instant, float], period: Period, answers: Answered | None) -> Fired:
    runs = [1]
    for before, at in pairwise(sorted(track)):
        if at - before > MINUTE:
            runs.append(0)
        runs[-1] += 1
    # How long those would have been that reach over an edge is not known.
    whole = runs[min(track) == period.start + MINUTE : len(runs) - (max(track) == period.end)]
    return Fired(key, len(runs), len(track), max(runs), quantile(whole, 0.5), answers)


def _most_first(fired: Fired) -> tuple[int, AlertKey]:
    return -fired.minutes, fired.alert
