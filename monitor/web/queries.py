"""The query side of the Prometheus HTTP API: expressions, series and label names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flask import Response, request
from werkzeug.datastructures import CombinedMultiDict, MultiDict

from monitor.clock import Clock
from monitor.model.instant import MINUTE, Duration, Instant
from monitor.model.labels import Labels
from monitor.promql import ErrorKind, Evaluator, Plan, PromqlError, Result, parse
from monitor.web.answer import Answer, limited, query_response
from monitor.web.error import ApiError, ErrorType, invalid
from monitor.web.escaped import unescaped
from monitor.web.gate import Gate
from monitor.web.parameters import limit_of, lookback_of, seconds_of, steps_of, time_of
from monitor.web.pretty import pretty
from monitor.web.series import Past, Storage, Wanted, nothing, parse_error, selectors_of

LOOKBACK: Duration = 5 * MINUTE
# A query may take this long, the wait for its turn included; nobody looks at a panel longer.
TIMEOUT_SECONDS = 30.0
# And this many points may be in memory for it: some 100 MB, where the daemon itself is to stay below 200.
MOST_SAMPLES = 2_000_000
_EVER: tuple[Instant, Instant] = (-(2**63), 2**63 - 1)


class Engines(Protocol):
    def __call__(self, lookback: Duration, seconds: float) -> Evaluator:
        """Return what evaluates one query with this lookback, in at most so many seconds."""
        ...


@dataclass(frozen=True)
class Queries:
    """One method a path; each raises ApiError."""

    storage: Storage
    engines: Engines
    clock: Clock
    gate: Gate = field(default_factory=Gate)
    past: Past = nothing

    def query(self) -> Response:
        limit, at = limit_of(given()), time_of(given(), "time", self.clock.now())
        return self._evaluated(limit, lambda engine, plan: engine.instant(plan, at))

    def query_range(self) -> Response:
        limit, (start, end, step) = limit_of(given()), steps_of(given())
        return self._evaluated(limit, lambda engine, plan: engine.range(plan, start, end, step))

    def series(self) -> Response:
        if not given().getlist("match[]"):
            raise ApiError("no match[] parameter provided")
        try:
            selectors = selectors_of(given().getlist("match[]"))
        except ApiError as err:
            raise invalid("match[]", err) from err
        return self._listed(Wanted(selectors, *_period()), lambda found: [labels.as_dict() for labels in found])

    def labels(self) -> Response:
        wanted = Wanted(selectors_of(given().getlist("match[]")), *_period())
        return self._listed(wanted, lambda found: sorted({name for labels in found for name, _ in labels}))

    def label_values(self, name: str) -> Response:
        label = unescaped(name)
        wanted = Wanted(selectors_of(given().getlist("match[]")), *_period())
        return self._listed(wanted, lambda found: sorted({labels.value(label) for labels in found} - {""}))

    def query_exemplars(self) -> Response:
        """Answer that there are none: exemplars are not kept."""
        start, end = _period()
        if end < start:
            raise ApiError("end timestamp must not be before start timestamp")
        _parsed(given().get("query", ""))
        return Answer([]).response()

    def format_query(self) -> Response:
        text = given().get("query", "")
        try:
            _parsed(text)
            written = pretty(text)
        except (ApiError, PromqlError) as err:
            raise invalid("query", err) from err
        return Answer(written).response()

    def _evaluated(self, limit: int, evaluate: Callable[[Evaluator, Plan], Result]) -> Response:
        seconds = min(seconds_of(given(), "timeout", TIMEOUT_SECONDS), TIMEOUT_SECONDS)
        if seconds <= 0:
            raise ApiError("query timed out in query execution", ErrorType.TIMEOUT)
        lookback = lookback_of(given(), LOOKBACK)
        try:
            plan = _parsed(given().get("query", ""))
        except ApiError as err:
            raise invalid("query", err) from err
        with self.gate.passed(seconds) as left:
            try:
                result = evaluate(self.engines(lookback, left), plan)
            except PromqlError as err:
                raise _failed(err) from err
        return query_response(result, limit)

    def _listed(self, wanted: Wanted, show: Callable[[Sequence[Labels]], Sequence[object]]) -> Response:
        limit = limit_of(given())
        with self.gate.passed(TIMEOUT_SECONDS) as left:
            try:
                found = wanted.labels(self.storage, self.past, left)
            except PromqlError as err:
                raise _failed(err) from err
            return limited(show(found), limit).response()


def given() -> MultiDict[str, str]:
    """Return the parameters of the request; those of a form come before those of the URL."""
    return CombinedMultiDict([request.form, request.args])


def _period() -> tuple[Instant, Instant]:
    return time_of(given(), "start", _EVER[0]), time_of(given(), "end", _EVER[1])


def _parsed(text: str) -> Plan:
    if not text.strip():
        raise ApiError(f"{'1:1' if text else 'unknown position'}: parse error: no expression found in input")
    try:
        return parse(text)
    except PromqlError as err:
        raise ApiError(parse_error(err)) from err


def _failed(err: PromqlError) -> ApiError:
    if err.kind is ErrorKind.BAD_DATA:
        return invalid("query", err)
    return ApiError(str(err), ErrorType(err.kind.value))
