"""Whoever answers the queries of a dashboard: the daemon, a Prometheus, or anything that speaks its HTTP API."""

from dataclasses import dataclass
from typing import Any

import requests

from monitor.commands.ask import request
from monitor.commands.query import Asked, QueryError, from_server
from monitor.model.instant import Duration, Instant, to_seconds

_TIMEOUT_SECONDS = 60

Result = dict[str, Any]
"""`{"resultType": "matrix" | "vector" | "scalar", "result": …}`"""


class SourceError(Exception):
    """A question has no answer; the text is the server's own where it gave one."""


@dataclass(frozen=True, slots=True)
class Period:
    """From when to when a dashboard shows; both are included."""

    start: Instant
    end: Instant

    @property
    def length(self) -> Duration:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Source:
    """A server by its URL, asked as `vllm-monitor query` asks. Every method raises SourceError."""

    url: str

    def instant(self, expr: str, at: Instant) -> Result:
        return self._answered(Asked(expr, at))

    def range(self, expr: str, period: Period, step: Duration) -> Result:
        """Return an answer at multiples of `step`, as Grafana asks for them."""
        start, end = period.start // step * step, period.end // step * step
        return self._answered(Asked(expr, end, end - start, step))

    def label_values(self, label: str, selector: str, period: Period) -> list[str]:
        """Return the values of a label; with a selector only those of its series."""
        asked = {"start": to_seconds(period.start), "end": to_seconds(period.end)}
        match = {"match[]": selector} if selector else {}
        path = f"{self.url}/api/v1/label/{label}/values"
        try:
            answer = request("GET", path, params={**asked, **match}, timeout=_TIMEOUT_SECONDS).json()
            return sorted(answer["data"])
        except (requests.RequestException, ValueError, LookupError, TypeError) as err:
            raise SourceError(f"{self.url} does not say which values {label} has: {type(err).__name__}") from err

    def _answered(self, asked: Asked) -> Result:
        try:
            data: Result = from_server(self.url, asked)["data"]
        except QueryError as err:
            raise SourceError(str(err)) from err
        return data
