"""A week of one model, answered without a server: quiet nights, and Tuesday afternoon is too much."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from monitor.model.instant import DAY, HOUR, Duration, Instant
from monitor.model.labels import Labels
from monitor.report.gather import Points
from monitor.report.period import Period
from monitor.report.questions import ALERTS, DAILY_PEAK, Distribution, Question

# Monday, 2026-11-02, 00:00 UTC.
MONDAY: Instant = 1_793_577_600_000
WEEK = Period(MONDAY, MONDAY + 7 * DAY)
MODEL = Labels.of(job="vllm", model_name="llama")
RUSH = range(MONDAY + DAY + 14 * HOUR, MONDAY + DAY + 15 * HOUR)

Value = Callable[[Instant], float]


def load(at: Instant) -> float:
    """Return how busy it is: 0.1 at night, 0.5 from 8 to 20, 1 in the rush."""
    if at - 1 in RUSH:
        return 1.0
    return 0.5 if 8 <= (at - 1) % DAY // HOUR < 20 else 0.1


def level(factor: float) -> Value:
    return lambda at: load(at) * factor


def always(value: float) -> Value:
    return lambda _: value


def in_rush(value: float) -> Value:
    return lambda at: value if load(at) == 1 else 0.0


USUAL: Mapping[str, Value] = {
    Question.KV_PEAK: level(0.97),
    Question.KV_P90: level(0.96),
    Question.PREEMPTIONS: in_rush(0.01),
    Question.WAITING_PEAK: in_rush(43),
    Question.WAITING: in_rush(30),
    Question.RUNNING: level(14),
    Question.ENDED: level(0.8),
    Question.FAILED: in_rush(0.002),
    Question.ANSWERED: level(240),
    Question.ANSWERED_5XX: in_rush(1.5),
    Question.PROMPT_TOKENS: level(6400),
    Question.GENERATED_TOKENS: level(900),
    Question.TTFT_P50: level(0.3),
    Question.TTFT_P95: level(2),
    Question.TTFT_P99: level(8),
    Question.ITL_P50: level(0.03),
    Question.ITL_P95: level(0.05),
    Question.ITL_P99: level(0.09),
    Question.E2E_P50: level(4),
    Question.E2E_P95: level(19),
    Question.E2E_P99: level(42),
    Question.PROMPT_P99: level(18_000),
    Question.PROMPT_MEAN: level(6_000),
    Question.CONCURRENCY: always(1.74),
    Question.KV_TOKENS: always(28_560),
    Question.MAX_MODEL_LEN: always(16_384),
}


# Requests of the whole time up to each edge.
BUCKETS: Mapping[Distribution, Mapping[str, float]] = {
    Distribution.TTFT: {"0.1": 500, "0.5": 900, "2.5": 990, "10.0": 1000, "+Inf": 1000},
    Distribution.ITL: {"0.025": 40_000, "0.05": 60_000, "0.1": 79_000, "+Inf": 80_000},
    Distribution.E2E: {"1.0": 100, "5.0": 500, "20.0": 950, "60.0": 1000, "+Inf": 1000},
    Distribution.PROMPT: {"1000.0": 400, "5000.0": 800, "10000.0": 980, "20000.0": 1000, "+Inf": 1000},
}


@dataclass
class FakeServer:
    """Answers what a report asks, from functions of time; `weeks` are the highest KV usage, oldest week first."""

    tracks: Mapping[str, Value] = field(default_factory=lambda: USUAL)
    weeks: Sequence[float] = (0.75, 0.8, 0.86, 0.91, 0.97)
    end: Instant = WEEK.end

    def __call__(self, expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]:
        times = range(start, end + 1, step)
        if expr == DAILY_PEAK:
            ages = {at: (self.end - at) // (7 * DAY) for at in times}
            found = {at: self.weeks[-1 - age] for at, age in ages.items() if age < len(self.weeks)}
            return [Points(MODEL, list(found), list(found.values()))]
        if expr == ALERTS:
            firing = [at for at in times if at - 1 in RUSH]
            name = Labels.of(alertname="VLLMOverloaded", severity="critical", **dict(MODEL))
            return [Points(name, firing, [1.0] * len(firing))]
        for distribution, counts in BUCKETS.items():
            if distribution in expr and Question.KV_PEAK in self.tracks:
                return [Points(Labels.of(le=le, **dict(MODEL)), [end], [count]) for le, count in counts.items()]
        value = self.tracks.get(expr)
        return [] if value is None else [Points(MODEL, times, [value(at) for at in times])]
