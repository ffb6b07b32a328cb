"""A server in the place of the embedded engine, for whoever evaluates an expression."""

from array import array
from collections.abc import Iterator
from typing import Any

from monitor.model.instant import Duration, Instant, from_seconds
from monitor.model.labels import Labels
from monitor.promql import ErrorKind, Matrix, Plan, PromqlError, Result, Scalar, Series, String, Vector
from monitor.promql.result import Value
from monitor.remote.answer import Answer
from monitor.remote.client import Client
from monitor.remote.errors import Reason, RemoteError

_KINDS = ("vector", "matrix", "scalar", "string")
_NO_VALUE = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class RemoteEngine:
    """Has `client` evaluate, each query within `seconds` (None: the client's timeout). Raises PromqlError."""

    def __init__(self, client: Client, seconds: float | None = None) -> None:
        self._client = client
        self._seconds = seconds

    def instant(self, plan: Plan, at: Instant) -> Result:
        """Return the value of the expression at one time."""
        try:
            return _result(self._client.query(plan.text, at, self._seconds), at, self._client.name)
        except RemoteError as err:
            raise as_promql_error(err) from err

    def range(self, plan: Plan, start: Instant, end: Instant, step: Duration) -> Result:
        """Return the values of the expression from `start` to `end`, both included, every `step`: always a matrix."""
        try:
            answer = self._client.query_range(plan.text, start, end, step, self._seconds)
            return _result(answer, end, self._client.name)
        except RemoteError as err:
            raise as_promql_error(err) from err


def as_promql_error(err: RemoteError) -> PromqlError:
    """Return what an error of the server is to who asked for the value of an expression."""
    if err.kind == ErrorKind.BAD_DATA:
        return PromqlError(str(err), kind=ErrorKind.BAD_DATA)
    kind = ErrorKind.TIMEOUT if err.reason is Reason.TIMEOUT else ErrorKind.EXECUTION
    return PromqlError(str(err), kind=kind)


def _result(answer: Answer, at: Instant, name: str) -> Result:
    return Result(value_of(answer.data, at, name), tuple(answer.warnings), tuple(answer.infos))


def value_of(data: Any, at: Instant, name: str) -> Value:
    """Return the value in the `data` of an answer of the server `name`, asked for `at`. Raises RemoteError."""
    kind = data.get("resultType") if isinstance(data, dict) else None
    if kind not in _KINDS:
        what = f"{name} does not speak the Prometheus HTTP API: it answers a value of an unknown type"
        raise RemoteError(what, reason=Reason.NOT_PROMETHEUS)
    try:
        found = data["result"]
        match kind:
            case "vector":
                return Vector(at, [(_labels(one["metric"]), float(one["value"][1])) for one in found or ()])
            case "matrix":
                return Matrix(sorted(_series(found or ()), key=lambda one: one.labels))
            case "scalar":
                return Scalar(at, float(found[1]))
            case _:
                return String(at, str(found[1]))
    except _NO_VALUE as err:
        what = f"{name} answers a value that is none ({type(err).__name__}); native histograms are not supported"
        raise RemoteError(what, reason=Reason.REFUSED) from err


def _series(found: Any) -> Iterator[Series]:
    for one in found:
        points = one["values"]
        times = array("q", [from_seconds(point[0]) for point in points])
        yield Series(_labels(one["metric"]), times, array("d", [float(point[1]) for point in points]))


def _labels(metric: Any) -> Labels:
    if not all(isinstance(text, str) for pair in metric.items() for text in pair):
        raise TypeError("labels are texts")
    return Labels.of(metric)
