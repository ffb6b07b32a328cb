"""What the queries of a panel are answered, in the form that `page/src/question.ts` takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.preview.source import Period, Result, Source, SourceError
from dashboards.preview.variables import Timing, Variables
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND, Duration, DurationError, parse_duration

Answer = dict[str, Any]

# reference: Grafana, packages/grafana-data: roundInterval. What steps it chooses from.
_STEPS = (
    *(SECOND * n for n in (1, 2, 5, 10, 15, 20, 30)),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 20, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    DAY,
    7 * DAY,
)


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom to ask, of which time; `scrape_interval` is the shortest step, as in a data source's settings."""

    source: Source
    period: Period
    scrape_interval: Duration

    def panel(self, panel: Mapping[str, Any], variables: Variables, width: int) -> tuple[list[Answer], str]:
        """Return the answers of a panel that is so many pixels wide, and why one is missing ("" when none is)."""
        answers: list[Answer] = []
        for target in panel.get("targets") or ():
            if target.get("hide"):
                continue
            try:
                answers += self._target(target, variables, self._timing(panel, target, width))
            except SourceError as err:
                return answers, f"{target.get('refId', '')}: {err}"
        return answers, ""

    def _target(self, target: Mapping[str, Any], variables: Variables, timing: Timing) -> Iterator[Answer]:
        expr = variables.filled(target.get("expr") or "", timing)
        if not expr:
            raise SourceError("the preview asks for nothing but PromQL")
        instant, legend = bool(target.get("instant")), variables.shown(target.get("legendFormat") or "")
        if target.get("range") or not instant:
            yield _answer(target, legend, self.source.range(expr, self.period, timing.step), timing.step)
        if instant:
            yield _answer(target, legend, self.source.instant(expr, self.period.end), timing.step)

    def _timing(self, panel: Mapping[str, Any], target: Mapping[str, Any], width: int) -> Timing:
        asked = _duration(target.get("interval")) or _duration(panel.get("interval")) or 0
        points = panel.get("maxDataPoints") or width
        step = max(_round(self.period.length // points), asked or self.scrape_interval)
        return Timing(self.period, step, asked or self.scrape_interval)


def _answer(target: Mapping[str, Any], legend: str, result: Result, step: Duration) -> Answer:
    return {
        "refId": target.get("refId", "A"),
        "legend": legend,
        "format": target.get("format") or "time_series",
        "kind": result["resultType"],
        "result": _series(result),
        "step": step,
    }


def _series(result: Result) -> Sequence[dict[str, Any]]:
    """Return series of many points, of one, or of one without labels: all in the form of the first."""
    found = result["result"]
    if result["resultType"] == "scalar":
        return [{"metric": {}, "values": [found]}]
    return [{"metric": one["metric"], "values": one.get("values") or [one["value"]]} for one in found]


def _round(step: Duration) -> Duration:
    return next((one for one in _STEPS if step <= one), _STEPS[-1])


def _duration(text: str | None) -> Duration | None:
    try:
        return parse_duration(text or "")
    except DurationError:
        return None
