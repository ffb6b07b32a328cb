"""Answers of the HTTP API: success with data, warnings and infos, or an error, as Prometheus writes them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response

from monitor.model.instant import Instant
from monitor.model.sample import format_value
from monitor.promql import Matrix, Result, Vector
from monitor.promql.result import point, seconds
from monitor.web.error import ApiError

Json = Any
_JSON = "application/json"
TRUNCATED = "results truncated due to limit"
# A large answer is written in pieces of about this size: no other thread runs while JSON is made.
_PIECE_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes into `data`, and the remarks beside it."""

    data: Json
    warnings: Sequence[str] = ()
    infos: Sequence[str] = ()

    def response(self) -> Response:
        body = {"status": "success", "data": self.data} | _remarks(self.warnings, self.infos)
        return Response(_text(body), content_type=_JSON)


def failure(err: ApiError) -> Response:
    """Return the answer that says why there is none."""
    body = {"status": "error", "errorType": err.type.value, "error": str(err)}
    return Response(_text(body), status=err.type.status, content_type=_JSON)


def limited(items: Sequence[Any], limit: int) -> Answer:
    """Return the first `limit` items (0: all), and a warning where some are left out."""
    if limit and len(items) > limit:
        return Answer(items[:limit], (TRUNCATED,))
    return Answer(items)


def query_response(result: Result, limit: int) -> Response:
    """Return the answer to a query: at most `limit` series of a vector or matrix, 0 for all."""
    value, warnings = result.value, result.warnings
    if not isinstance(value, Vector | Matrix):
        return Answer(result.as_json(), warnings, result.infos).response()
    if limit and len(value) > limit:
        warnings = (*warnings, TRUNCATED)
    kind = "vector" if isinstance(value, Vector) else "matrix"
    head = f'{{"status":"success","data":{{"resultType":"{kind}","result":['
    remarks = _text(_remarks(warnings, result.infos))[1:]
    tail = "]}" + ("," if len(remarks) > 1 else "") + remarks
    return Response(_pieces(head, _elements(value, limit or len(value)), tail), content_type=_JSON)


def _elements(value: Vector | Matrix, limit: int) -> Iterator[str]:
    if isinstance(value, Vector):
        for labels, one in value.samples[:limit]:
            yield _text({"metric": dict(labels), "value": point(value.at, one)})
        return
    times: Sequence[Instant] = ()
    beginnings: list[str] = []
    for series in value.series[:limit]:
        # As a rule the series of a range share their times; to write each point for itself takes several times as long.
        if series.times is not times:
            times, beginnings = series.times, [f'[{seconds(at)},"' for at in series.times]
        points = [f'{begun}{format_value(one)}"]' for begun, one in zip(beginnings, series.values, strict=True)]
        yield f'{{"metric":{_text(dict(series.labels))},"values":[{",".join(points)}]}}'


def _pieces(head: str, elements: Iterable[str], tail: str) -> Iterator[str]:
    waiting, size, comma = [head], 0, ""
    for element in elements:
        waiting.append(comma + element)
        size, comma = size + len(element), ","
        if size >= _PIECE_CHARACTERS:
            yield "".join(waiting)
            waiting, size = [], 0
    yield "".join([*waiting, tail])


def _remarks(warnings: Sequence[str], infos: Sequence[str]) -> dict[str, list[str]]:
    both = {"warnings": list(warnings), "infos": list(infos)}
    return {name: remarks for name, remarks in both.items() if remarks}


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
