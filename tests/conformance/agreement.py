"""
Whether an answer is what a case expects, with the tolerance of Prometheus' own tests.

An instant case has a twin: the same expression as a range query around its time, whose middle step must agree.
"""

import math
import re
import sys
from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
_TOLERANCE = 1e-6
_AROUND_MS = 60_000
_START_OR_END = re.compile(r"(?:start|end)\(\)")


def disagreement(case: Json, answer: Json) -> str | None:
    """Return what differs from the expectation, or None."""
    expected = case["expect"]
    if "fail" in expected:
        return None if answer["status"] == "error" else "it should have failed"
    if answer["status"] != "success":
        return str(answer["error"])
    if expected["type"] in ("scalar", "string"):
        return _single(expected, answer)
    return _series(expected, answer) or _remarks(expected, answer)


def _series(expected: Json, answer: Json) -> str | None:
    wanted = {_key(one["metric"]): one for one in expected.get("series", ())}
    found = {_key(one["metric"]): one for one in answer["result"]}
    if wanted.keys() != found.keys() or len(found) != len(answer["result"]):
        return f"expected {sorted(wanted)}, got {answer['result']}"
    if expected.get("ordered") and list(wanted) != list(found):
        return f"expected the order {list(wanted)}, got {list(found)}"
    for key, one in wanted.items():
        if not _same(_points(one), _points(found[key]), has_times="values" in one):
            return f"{dict(key)}: expected {one}, got {found[key]}"
    return None


def twin(case: Json) -> Json | None:
    """Return the range query that must agree with an instant case at its time, if it has one."""
    expected = case["expect"]
    if case["kind"] != "instant" or expected["type"] not in ("vector", "scalar") or expected.get("ordered"):
        return None
    if _START_OR_END.search(case["query"]):
        return None
    at = case["time_ms"]
    return {**case, "kind": "range", "start_ms": at - _AROUND_MS, "end_ms": at + _AROUND_MS, "step_ms": _AROUND_MS}


def middle(case: Json, answer: Json) -> Json:
    """Return the step at the case's time of a range query's answer, as an instant query would have answered."""
    if answer["status"] != "success":
        return answer
    vector = [
        {"metric": one["metric"], "value": point}
        for one in answer["result"]
        for point in one["values"]
        if round(point[0] * 1000) == case["time_ms"]
    ]
    if case["expect"]["type"] == "scalar":
        return {"status": "success", "resultType": "scalar", "result": vector[0]["value"]}
    return {"status": "success", "resultType": "vector", "result": vector}


def _key(metric: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(metric.items()))


def _single(expected: Json, answer: Json) -> str | None:
    type_ = expected["type"]
    got, wanted = answer["result"][1], expected[type_]
    same = got == wanted if type_ == "string" else close(float(wanted), float(got))
    return None if answer["resultType"] == type_ and same else f"expected {wanted}, got {answer['result']}"


def _points(series: Json) -> list[tuple[int, float]]:
    points = series.get("values", [[0, series.get("value")]])
    return [(at, float(value[1] if isinstance(value, list) else value)) for at, value in points]


def _same(wanted: list[tuple[int, float]], found: list[tuple[int, float]], *, has_times: bool) -> bool:
    if has_times and [at for at, _ in wanted] != [round(at * 1000) for at, _ in found]:
        return False
    return all(close(one, other) for (_, one), (_, other) in zip(wanted, found, strict=True))


def _remarks(expected: Json, answer: Json) -> str | None:
    for kind, key in (("warn", "warnings"), ("info", "infos")):
        got = answer.get(key, ())
        if expected.get(f"no_{kind}") and got:
            return f"unexpected {key}: {got}"
        for wanted in expected.get(kind, ()) if key in answer else ():
            if not any(_says(wanted, text) for text in got):
                return f"expected in {key} {wanted}, got {got}"
    return None


def _says(wanted: Json, text: str) -> bool:
    if "msg" in wanted:
        return bool(wanted["msg"] == text)
    return "regex" not in wanted or re.search(wanted["regex"], text, re.DOTALL) is not None


def close(one: float, other: float) -> bool:
    """Say whether two values are the same but for rounding; NaN is like NaN."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    size, difference = abs(one) + abs(other), abs(one - other)
    if one == 0 or other == 0 or size < sys.float_info.min:
        return difference < _TOLERANCE * sys.float_info.min
    return difference / min(size, sys.float_info.max) < _TOLERANCE
