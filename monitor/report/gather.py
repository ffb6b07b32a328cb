"""
Asks the questions of a report.

They are asked for the end of each minute: there the history, which keeps the last sample of each minute, and a
Prometheus, which has all of them, give the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.report.distribution import Counts
from monitor.report.handling import AlertKey, Handling
from monitor.report.period import LONGEST, WEEK, Period
from monitor.report.questions import ALERTS, DAILY_PEAK, Distribution, Question

# Of how long a sample of a distribution is, which ends at it; at the edges of a period some minutes are not known. Of a
# short one that would be most of it.
_SPAN: Duration = 5 * MINUTE
_LEAST: Duration = HOUR
# No request, token or second was ever counted so far.
_LARGEST = 1e18

# Values by the instant of their minute's end.
Track = Mapping[Instant, float]


class Model(NamedTuple):
    job: str
    name: str


class Points(NamedTuple):
    """One series of an answer."""

    labels: Labels
    times: Sequence[Instant]
    values: Sequence[float]


class Ask(Protocol):
    """Answers an expression at every step from start to end; raises whatever its caller understands."""

    def __call__(self, expr: str, start: Instant, end: Instant, step: Duration, /) -> Sequence[Points]: ...


@dataclass(frozen=True, slots=True)
class Gathered:
    """
    All that was answered.

    `daily` are the highest KV usages of the days that end at their instants. `distributions` are of the whole period.
    `handlings` are None where nobody knows who acknowledged what, as in a Prometheus.
    """

    period: Period
    tracks: Mapping[Question, Mapping[Model, Track]]
    alerts: Mapping[AlertKey, Track] = field(default_factory=dict)
    daily: Mapping[Model, Track] = field(default_factory=dict)
    distributions: Mapping[Distribution, Mapping[Model, Counts]] = field(default_factory=dict)
    handlings: Sequence[Handling] | None = None

    @property
    def knows_anything(self) -> bool:
        return any(self.tracks.values()) or any(self.alerts.values())

    def track(self, question: Question, model: Model) -> Track:
        return self.tracks.get(question, {}).get(model, {})

    def counts(self, distribution: Distribution, model: Model) -> Counts:
        return self.distributions.get(distribution, {}).get(model, {})


def gather(ask: Ask, period: Period) -> Gathered:
    """Ask everything about a period, and for the growth about the weeks before it."""
    tracks = {question: _by_model(_minutes(ask, question, period)) for question in Question}
    alerts = {AlertKey.of(labels): track for labels, track in _minutes(ask, ALERTS, period).items()}
    distributions = {one: _counts(ask, one, period) for one in Distribution}
    return Gathered(period, tracks, alerts, _by_model(_days(ask, period.end)), distributions)


def _minutes(ask: Ask, expr: str, period: Period) -> dict[Labels, dict[Instant, float]]:
    # A week of minutes is fewer than the points that may be asked for at once.
    found: dict[Labels, dict[Instant, float]] = {}
    for part in period.parts(WEEK):
        _add(found, ask(expr, part.start + MINUTE, part.end, MINUTE))
    return found


def _days(ask: Ask, end: Instant) -> dict[Labels, dict[Instant, float]]:
    found: dict[Labels, dict[Instant, float]] = {}
    for part in Period(max(end - LONGEST, 0), end).parts(WEEK):
        _add(found, ask(DAILY_PEAK, part.start + DAY, part.end, DAY))
    return found


def _counts(ask: Ask, asked: Distribution, period: Period) -> dict[Model, dict[float, float]]:
    """Return the counts by edges of what happened in a period: of the five minutes that lie in it as a whole."""
    found: dict[Model, dict[float, float]] = {}
    if period.length < _LEAST:
        return found
    # Whether a range has the sample at its beginning depends on the version of Prometheus: none begins at one.
    start = period.start + _SPAN - 2 * SECOND
    for begin in range(start, period.end, WEEK):
        end = min(begin + WEEK, period.end)
        for labels, _, values in ask(asked.over(end - begin - SECOND), end, end, MINUTE):
            counts = found.setdefault(Model(labels.value("job"), labels.value("model_name")), {})
            edge = _edge(labels)
            if edge is not None and values and _is_sound(values[-1]):
                counts[edge] = counts.get(edge, 0.0) + values[-1]
    return found


def _edge(labels: Labels) -> float | None:
    """Return the upper edge of a bucket; None where the label is missing or no number."""
    try:
        return float(labels.value("le"))
    except ValueError:
        return None


def _add(found: dict[Labels, dict[Instant, float]], answer: Sequence[Points]) -> None:
    for labels, times, values in answer:
        track = found.setdefault(labels, {})
        track.update((at, value) for at, value in zip(times, values, strict=True) if _is_sound(value))


def _is_sound(value: float) -> bool:
    # Also of sums of so many: one gauge that has gone mad must not cost the whole report.
    return abs(value) < _LARGEST


def _by_model(found: Mapping[Labels, Track]) -> dict[Model, Track]:
    return {Model(labels.value("job"), labels.value("model_name")): track for labels, track in found.items() if track}
