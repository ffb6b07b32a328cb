"""
Answers conformance cases with our engine: JSON lines in, JSON lines out.

    {"op": "load", "dataset": ID, "series": [{"labels": {..}, "samples": [[ms, "1.5" | "NaN" | "+Inf" | "stale"], ..]}]}
    {"op": "query", "id": ID, "kind": "instant", "query": Q, "time_ms": T}
    {"op": "query", "id": ID, "kind": "range", "query": Q, "start_ms": A, "end_ms": B, "step_ms": S}
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from monitor.model.labels import Labels
from monitor.model.sample import STALE
from monitor.promql import Engine, PromqlError, parse
from monitor.storage.window import Window


class Evaluator:
    """One answer for each request; a load replaces what was loaded before."""

    def __init__(self) -> None:
        self.engine = Engine(Window())

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if request["op"] == "load":
            self.engine = Engine(window(request["series"]))
            return {"status": "success"}
        try:
            plan = parse(request["query"])
            if request["kind"] == "instant":
                result = self.engine.instant(plan, request["time_ms"])
            else:
                result = self.engine.range(plan, request["start_ms"], request["end_ms"], request["step_ms"])
        except PromqlError as err:
            return {"id": request["id"], "status": "error", "error": str(err)}
        remarks = {"warnings": result.warnings, "infos": result.infos}
        return {"id": request["id"], "status": "success", **result.as_json(), **remarks}


def window(series: Iterable[Mapping[str, Any]]) -> Window:
    """Return a window with `series`; those of the same sample times share a block, as those of one target do."""
    found = Window()
    by_times: dict[tuple[int, ...], list[tuple[Labels, list[float]]]] = {}
    for one in series:
        times = tuple(at for at, _ in one["samples"])
        by_times.setdefault(times, []).append((Labels.of(one["labels"]), [_value(text) for _, text in one["samples"]]))
    for owner, (times, columns) in enumerate(by_times.items()):
        block = found.block(owner)
        present = [block.column(labels, counter=True) for labels, _ in columns]
        for row, at in enumerate(times):
            # A marker may stand in a row like any value: a column of markers reads as one of gaps.
            there = [k for k, (_, values) in enumerate(columns) if values[row] is not STALE]
            block.append(at, [present[k] for k in there], [columns[k][1][row] for k in there])
    return found


def _value(text: str) -> float:
    return STALE if text == "stale" else float(text)


def main(requests: TextIO, answers: TextIO) -> None:
    evaluator = Evaluator()
    for line in requests:
        answers.write(json.dumps(evaluator.answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
