"""Whoever answers the queries of a dashboard: the daemon, a Prometheus, or anything that speaks its HTTP API."""

from dataclasses import dataclass
from typing import Any

import requests

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
    """A server by its URL. Every method raises SourceError."""

    url: str

    def instant(self, expr: str, at: Instant) -> Result:
        found: Result = self._asked("query", query=expr, time=str(to_seconds(at)))
        return found

    def range(self, expr: str, period: Period, step: Duration) -> Result:
        """Return an answer at multiples of `step`, as Grafana asks for them."""
        start, end = period.start // step * step, period.end // step * step
        bounds = {"start": str(to_seconds(start)), "end": str(to_seconds(end)), "step": str(to_seconds(step))}
        found: Result = self._asked("query_range", query=expr, **bounds)
        return found

    def label_values(self, label: str, selector: str, period: Period) -> list[str]:
        bounds = {"start": str(to_seconds(period.start)), "end": str(to_seconds(period.end))}
        match = {"match[]": selector} if selector else {}
        return sorted(self._asked(f"label/{label}/values", **match, **bounds))

    def _asked(self, path: str, **parameters: str) -> Any:
        try:
            response = requests.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=_TIMEOUT_SECONDS)
            answer = response.json()
        except requests.JSONDecodeError as err:
            raise SourceError(f"{self.url} does not speak the HTTP API of Prometheus (/api/v1/{path})") from err
        except requests.RequestException as err:
            raise SourceError(f"{self.url} does not answer: {type(err).__name__}") from err
        if answer.get("status") != "success":
            raise SourceError(str(answer.get("error", f"HTTP status {response.status_code}")))
        return answer["data"]
