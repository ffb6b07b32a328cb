"""A report as texts: a name and what there is to say of it."""

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from monitor.report.growth import FEWEST_WEEKS, Growth, Trend
from monitor.report.handling import Answered
from monitor.report.period import shown
from monitor.report.report import Cache, Fired, Flow, Latency, ModelReport, Peak, Prompts, Queue, Report, Throughput
from monitor.report.units import length, minutes, number, ratio, seconds, when

Row = tuple[str, str]
_MARKS = (0.85, 0.95)
_KINDS = ("TTFT", "inter-token", "e2e")
_UNKNOWN = "-"
_MINUTE = 60


def title(report: Report, zone: tzinfo) -> str:
    """Return which time the report is about; the zone stands once, here."""
    start, end = report.period.start, report.period.end
    return f"{shown(start, zone)} to {shown(end, zone)} {shown(end, zone, '%Z')} ({length(report.period.length)})"


def heading(report: Report, one: ModelReport) -> str:
    """Return which model, and how much of the time it was seen."""
    name = one.model.name or "(no model name)"
    whole = length(report.period.length)
    seen = "" if minutes(one.minutes_seen) == whole else f", seen for {minutes(one.minutes_seen)} of {whole}"
    return f"{name} (job {one.model.job}){seen}"


def rows(one: ModelReport, zone: tzinfo) -> Iterator[Row]:
    """Yield what there is to say of a model; of what is not known nothing is said."""
    yield from _cache(one.cache, zone)
    yield from _queue(one.queue, zone)
    yield from _latencies(one.latencies, zone)
    yield from _throughput(one.throughput, zone)
    yield from _prompts(one.prompts, zone)


def alert_row(fired: Fired) -> tuple[str, ...]:
    """Return alert, severity, where, how often, for how long in all, at most and mostly, and who acknowledged it."""
    where = " ".join(part for part in (fired.alert.job, fired.alert.model) if part)
    return (
        fired.alert.name,
        fired.alert.severity,
        where,
        "once" if fired.times == 1 else f"{fired.times} times",
        minutes(fired.minutes),
        minutes(fired.longest_minutes),
        _UNKNOWN if fired.median_minutes is None else minutes(round(fired.median_minutes)),
        _answered(fired.answered),
    )


def unanswered(report: Report) -> str:
    """Return what is to be said where nobody knows who acknowledged what, "" where somebody does."""
    if report.knows_answers or not report.alerts:
        return ""
    return "who acknowledged them is known to the daemon alone, and not to this server"


def _answered(answers: Answered | None) -> str:
    if answers is None:
        return _UNKNOWN
    if not answers.acknowledged:
        return f"0 of {answers.told}"
    after = "" if answers.median_seconds is None else f", after {_after(answers.median_seconds)}"
    return f"{answers.acknowledged} of {answers.told}{after}"


def _after(seconds_: float) -> str:
    return seconds(seconds_) if seconds_ < _MINUTE else minutes(round(seconds_ / _MINUTE))


def _cache(cache: Cache, zone: tzinfo) -> Iterator[Row]:
    if cache.peak is not None:
        yield "KV cache", f"peak {ratio(cache.peak.value)} ({when(cache.peak.at, zone)})"
        yield "headroom", ", ".join(_against(cache.peak.value, mark) for mark in _MARKS)
    if cache.busiest is not None:
        hour = cache.busiest
        yield "busiest hour", f"{when(hour.at, zone)}: mean {ratio(hour.mean)}, peak {ratio(hour.peak)} of the cache"
    if cache.minutes_above_95 is not None:
        each = ", of each at least six seconds" if cache.minutes_above_95 else ""
        yield "above 95%", f"{minutes(cache.minutes_above_95)}{each}"
    if cache.concurrency is not None:
        tokens = f" of {number(cache.max_model_len)} tokens" if cache.max_model_len else " of full length"
        free = cache.free_requests
        more = "" if free is None else f"; at the peak of the busiest hour {number(free)} more would have fitted"
        yield "capacity", f"{number(cache.concurrency)} requests{tokens} at once in an engine{more}"
    if cache.growth is not None:
        yield "growth", _growth(cache.growth)


def _against(peak: float, mark: float) -> str:
    points = round((peak - mark) * 100)
    side = "above" if points > 0 else "below"
    return f"{abs(points)} points {side} {mark:.0%}" if points else f"at {mark:.0%}"


def _growth(growth: Growth) -> str:
    peaks = ", ".join(ratio(peak) for peak in growth.peaks)
    told = f"{growth.trend}"
    if growth.trend is Trend.SHORT:
        told += f" ({len(growth.peaks)} of {FEWEST_WEEKS} weeks)"
    if growth.days is not None and growth.slope is not None:
        told = f"{growth.slope * 100:+.1f} points a week: full in {growth.days:,.0f} days"
    return f"{told}; weekly peaks {peaks}" if peaks else told


def _queue(queue: Queue, zone: tzinfo) -> Iterator[Row]:
    if queue.peak is not None and queue.p95 is not None:
        at = f" ({when(queue.peak.at, zone)})" if queue.peak.value else ""
        yield "queue", f"peak {number(queue.peak.value)} requests{at}, p95 {number(queue.p95)} requests"
    if queue.most_running is not None:
        yield "running", f"at most {number(queue.most_running)} requests at once"
    if queue.preemptions is not None:
        yield "preemptions", f"about {queue.preemptions:,.0f}" if queue.preemptions else "none"


def _latencies(found: dict[str, Latency], zone: tzinfo) -> Iterator[Row]:
    for kind in _KINDS:
        mine = {name.removeprefix(kind).strip(): one for name, one in found.items() if name.startswith(kind)}
        if mine:
            name = max(mine)
            yield kind, f"{_percentiles(mine)}; worst five minutes {name} {_worst(mine[name].worst, zone)}"


def _percentiles(found: Mapping[str, Latency]) -> str:
    """Return the percentiles of all requests; where they are not known, what is usual in five minutes."""
    whole = {name: one.whole for name, one in found.items() if one.whole is not None}
    shown = whole or {name: one.typical for name, one in found.items()}
    told = ", ".join(f"{name} {seconds(value)}" for name, value in shown.items())
    return told if whole else f"{told} (median of five minutes)"


def _worst(peak: Peak, zone: tzinfo) -> str:
    return f"{seconds(peak.value)} ({when(peak.at, zone)})"


def _throughput(flows: Throughput, zone: tzinfo) -> Iterator[Row]:
    if flows.requests is not None:
        yield "requests", _flow(flows.requests, "requests/min", zone)
    if flows.prompt_tokens is not None:
        yield "tokens in", _flow(flows.prompt_tokens, "tokens/s", zone)
    if flows.generated_tokens is not None:
        yield "tokens out", _flow(flows.generated_tokens, "tokens/s", zone)
    shares = [
        f"{ratio(share)} {what}"
        for share, what in ((flows.error_ratio, "of requests failed"), (flows.http_5xx_ratio, "of answers were 5xx"))
        if share is not None
    ]
    if shares:
        yield "errors", ", ".join(shares)


def _flow(flow: Flow, unit: str, zone: tzinfo) -> str:
    busiest = f"{number(flow.busiest.mean)} {unit} ({when(flow.busiest.at, zone)})"
    return f"mean {number(flow.mean)} {unit}, busiest hour {busiest}"


def _prompts(prompts: Prompts, zone: tzinfo) -> Iterator[Row]:
    if prompts.p99 is not None:
        worst = prompts.p99.worst
        side = "above" if worst.value > prompts.limit else "within"
        mean = f"mean {number(prompts.mean)}, " if prompts.mean is not None else ""
        typical = number(prompts.p99.typical if prompts.p99.whole is None else prompts.p99.whole)
        lower = [
            f"{name} {number(value)}, "
            for name, value in (("p50", prompts.p50), ("p95", prompts.p95))
            if value is not None
        ]
        highest = f"highest of five minutes {number(worst.value)} tokens ({when(worst.at, zone)})"
        limit = f"{side} the limit of {prompts.limit:,} tokens"
        yield "prompts", f"{mean}{''.join(lower)}p99 {typical}, {highest}: {limit}"
    if prompts.above_limit is not None:
        yield "too long", f"{_between(*prompts.above_limit)} of the prompts have more than {prompts.limit:,} tokens"
    if prompts.share_of_longest is not None and prompts.longest is not None:
        longest = "" if prompts.share_of_p99 is None else f", one of the highest p99 {ratio(prompts.share_of_p99)}"
        yield (
            "one prompt",
            f"of {number(prompts.longest)} tokens takes {ratio(prompts.share_of_longest)} of the cache{longest}",
        )


def _between(least: float, most: float) -> str:
    low, high = ratio(least), ratio(most)
    return high if low == high else f"{low} to {high}"
