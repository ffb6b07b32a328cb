"""Ours beside theirs: the same answer, or what is known to differ, or a difference."""

import math
import re
from collections.abc import Mapping
from typing import Any

from monitor.promql import Engine, PromqlError, parse

_TOLERANCE = 1e-9
_NOTHING = 1e-12
_MONOTONIC = re.compile(r'(?<=#histogram_quantile\))( for metric name "[^"]*")? \(\d+:\d+\)')
# Sums of squares of large values depend on the order of the series.
_TOLERANCE_OF_SQUARES = 1e-6
_QUANTILE = re.compile(r", got \S+")
Answer = Mapping[str, Any]


def ours(engine: Engine, query: str, start: int, end: int | None, step: int) -> Answer:
    """Return our answer in the form of the HTTP API; an `end` makes it a range query."""
    try:
        plan = parse(query)
        result = engine.instant(plan, start) if end is None else engine.range(plan, start, end, step)
    except PromqlError as err:
        return {"status": "error", "errorType": err.kind.value, "error": str(err)}
    answer: dict[str, Any] = {"status": "success", "data": result.as_json()}
    if result.warnings:
        answer["warnings"] = list(result.warnings)
    if result.infos:
        answer["infos"] = list(result.infos)
    return answer


def difference(query: str, mine: Answer, theirs: Answer) -> str | None:
    """Return what differs, or None."""
    if mine["status"] != theirs["status"]:
        return f"ours: {mine.get('error', 'success')}; theirs: {theirs.get('error', 'success')}"
    if mine["status"] == "error":
        same = mine["errorType"] == theirs["errorType"]
        return None if same else f"ours: {mine['error']} ({mine['errorType']}); theirs: {theirs['error']}"
    for remarks in ("warnings", "infos"):
        mine_set, theirs_set = _remarks(mine, remarks), _remarks(theirs, remarks)
        # The API cuts a long list of remarks.
        cut = any("annotations omitted" in text for text in mine_set | theirs_set)
        if mine_set != theirs_set and not cut:
            return f"{remarks}: ours {sorted(mine_set)}; theirs {sorted(theirs_set)}"
    left, right = mine["data"], theirs["data"]
    if left["resultType"] != right["resultType"]:
        return f"types: ours {left['resultType']}; theirs {right['resultType']}"
    return _results(query, left, right)


def _remarks(answer: Answer, remarks: str) -> set[str]:
    # In a range query 3.5 forgets the name after the first step, and takes the remark for that of another place.
    # Newer ones say nothing of a name that is empty.
    # And of sort in a range query only newer ones remark that it is of no use.
    # A quantile that changes from step to step it names once, or as NaN.
    texts = [_MONOTONIC.sub("", text) for text in answer.get(remarks, ()) if "sort is ineffective" not in text]
    return {_QUANTILE.sub("", text).replace(' for metric name ""', "") for text in texts}


def _results(query: str, left: Answer, right: Answer) -> str | None:
    tolerance = _TOLERANCE_OF_SQUARES if "std" in query else _TOLERANCE
    if left["resultType"] in ("scalar", "string"):
        return _points([left["result"]], [right["result"]], tolerance)
    mine, theirs = _by_labels(left["result"]), _by_labels(right["result"])
    if len(mine) != len(left["result"]):
        return "ours has a label set twice"
    if mine.keys() != theirs.keys():
        only_mine, only_theirs = mine.keys() - theirs.keys(), theirs.keys() - mine.keys()
        return f"series: only ours {sorted(only_mine)[:3]}; only theirs {sorted(only_theirs)[:3]}"
    for labels, points in mine.items():
        found = _points(points, theirs[labels], tolerance)
        if found:
            return f"{dict(labels)}: {found}"
    if query.startswith(("sort(", "sort_desc(")) and left["resultType"] == "vector":
        first, second = ([one["value"] for one in side["result"]] for side in (left, right))
        return _points(first, second, tolerance)
    return None


def _by_labels(result: list[dict[str, Any]]) -> dict[tuple[tuple[str, str], ...], list[list[Any]]]:
    return {tuple(sorted(one["metric"].items())): one.get("values") or [one["value"]] for one in result}


def _points(mine: list[list[Any]], theirs: list[list[Any]], tolerance: float) -> str | None:
    if [point[0] for point in mine] != [point[0] for point in theirs]:
        return f"times: ours {mine[:5]}; theirs {theirs[:5]}"
    for one, other in zip(mine, theirs, strict=True):
        if one[1] != other[1] and not close(float(one[1]), float(other[1]), tolerance):
            return f"at {one[0]}: ours {one[1]}; theirs {other[1]}"
    return None


def close(one: float, other: float, tolerance: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=tolerance, abs_tol=_NOTHING)
