"""What a query answers, and its form in the HTTP API."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.model.instant import Instant
from monitor.model.labels import Labels
from monitor.model.sample import format_value


@dataclass(frozen=True, slots=True)
class Vector:
    """An instant vector: label sets and values, all at one time."""

    at: Instant
    samples: Sequence[tuple[Labels, float]]

    def __iter__(self) -> Iterator[tuple[Labels, float]]:
        return iter(self.samples)

    def __len__(self) -> int:
        return len(self.samples)


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a matrix."""

    labels: Labels
    times: Sequence[Instant]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Series with their points, ordered by labels."""

    series: Sequence[Series]

    def __iter__(self) -> Iterator[Series]:
        return iter(self.series)

    def __len__(self) -> int:
        return len(self.series)


@dataclass(frozen=True, slots=True)
class Scalar:
    at: Instant
    value: float


@dataclass(frozen=True, slots=True)
class String:
    at: Instant
    value: str


Value = Vector | Matrix | Scalar | String


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a query, with what Prometheus remarks about it, as its HTTP API words the remarks."""

    value: Value
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """
        Return the `data` of the HTTP API: `{"resultType": ..., "result": ...}`.

        reference: Prometheus, docs/querying/api.md: times in seconds, values as text.
        """
        value = self.value
        if isinstance(value, Vector):
            vector = [{"metric": dict(labels), "value": point(value.at, one)} for labels, one in value.samples]
            return {"resultType": "vector", "result": vector}
        if isinstance(value, Matrix):
            matrix = [
                {
                    "metric": dict(one.labels),
                    "values": [point(*pair) for pair in zip(one.times, one.values, strict=True)],
                }
                for one in value.series
            ]
            return {"resultType": "matrix", "result": matrix}
        if isinstance(value, Scalar):
            return {"resultType": "scalar", "result": point(value.at, value.value)}
        return {"resultType": "string", "result": [seconds(value.at), value.value]}


def point(at: Instant, value: float) -> list[float | str]:
    """Return a point as the HTTP API writes it."""
    return [seconds(at), format_value(value)]


def seconds(at: Instant) -> float:
    """Return a time in seconds, an integer where it is whole."""
    return at / 1000 if at % 1000 else at // 1000
