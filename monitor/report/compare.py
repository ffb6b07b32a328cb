"""Two periods side by side: the table of a load test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from monitor.report.gather import Model
from monitor.report.report import Flow, Latency, ModelReport, Peak, Report
from monitor.report.units import number, ratio, seconds

_LEAST_CHANGE = 0.005


@dataclass(frozen=True, slots=True)
class Line:
    """What is compared, in both periods, and by how much the second differs ("" where that makes no sense)."""

    name: str
    first: str
    second: str
    change: str


def models_of(first: Report, second: Report) -> list[tuple[Model, ModelReport | None, ModelReport | None]]:
    """Return each model of either report, with what both say of it."""
    one, other = ({each.model: each for each in report.models} for report in (first, second))
    return [(model, one.get(model), other.get(model)) for model in sorted({*one, *other})]


def lines(first: ModelReport | None, second: ModelReport | None) -> Iterator[Line]:
    """Yield what is known in at least one of them."""
    for name, value_of, text in _ROWS:
        values = [None if one is None else value_of(one) for one in (first, second)]
        if values != [None, None]:
            told = ["–" if value is None else text(value) for value in values]  # noqa: RUF001 - a dash, as in tables
            yield Line(name, told[0], told[1], _change(*values))


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None or before == after:
        return ""
    if not before:
        return ""
    part = after / before - 1
    return f"{part:+.0%}" if abs(part) >= _LEAST_CHANGE else ""


def _mean(flow: Flow | None) -> float | None:
    return None if flow is None else flow.mean


def _value(peak: Peak | None) -> float | None:
    return None if peak is None else peak.value


def _typical(name: str) -> Callable[[ModelReport], float | None]:
    def value(one: ModelReport) -> float | None:
        found: Latency | None = one.latencies.get(name)
        return None if found is None else found.typical

    return value


def _whole(name: str) -> Callable[[ModelReport], float | None]:
    def value(one: ModelReport) -> float | None:
        found: Latency | None = one.latencies.get(name)
        return None if found is None else found.whole

    return value


def _in(unit: str) -> Callable[[float], str]:
    return lambda value: f"{number(value)} {unit}"


Row = tuple[str, Callable[[ModelReport], float | None], Callable[[float], str]]
_ROWS: tuple[Row, ...] = (
    ("max_model_len", lambda one: one.cache.max_model_len, _in("tokens")),
    ("KV cache of an engine", lambda one: one.cache.tokens, _in("tokens")),
    ("max concurrency", lambda one: one.cache.concurrency, _in("requests")),
    ("running at most", lambda one: one.queue.most_running, _in("requests")),
    ("requests", lambda one: _mean(one.throughput.requests), _in("requests/min")),
    ("tokens in", lambda one: _mean(one.throughput.prompt_tokens), _in("tokens/s")),
    ("tokens out", lambda one: _mean(one.throughput.generated_tokens), _in("tokens/s")),
    ("p95 TTFT", _whole("TTFT p95"), seconds),
    ("p95 inter-token", _whole("inter-token p95"), seconds),
    ("p95 e2e", _whole("e2e p95"), seconds),
    ("p95 TTFT, median of 5 min", _typical("TTFT p95"), seconds),
    ("p95 inter-token, median of 5 min", _typical("inter-token p95"), seconds),
    ("p95 e2e, median of 5 min", _typical("e2e p95"), seconds),
    ("KV cache, peak", lambda one: _value(one.cache.peak), ratio),
    ("queue, p95", lambda one: one.queue.p95, _in("requests")),
    ("preemptions, about", lambda one: one.queue.preemptions, lambda value: f"{value:,.0f}"),
    ("requests failed", lambda one: one.throughput.error_ratio, ratio),
    ("answers 5xx", lambda one: one.throughput.http_5xx_ratio, ratio),
)
