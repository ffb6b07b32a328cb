"""
The engine against 540 cases derived from Prometheus' own test suite, and against their twins in range mode.

`cases/*.json`: `datasets` by name, each a list of `{"labels", "samples": [[ms, value], ...]}`; `cases` with the query,
its times and what it must answer.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.agreement import disagreement, middle, twin
from tests.conformance.evaluate import Evaluator

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_every_case_and_its_twin_agree(path: Path) -> None:
    document = json.loads(path.read_text())
    evaluators = {name: _loaded(series) for name, series in document["datasets"].items()}
    failures = {}
    for case in document["cases"]:
        evaluator = evaluators[case["dataset"]]
        wrong = disagreement(case, evaluator.answer({"op": "query", **case}))
        ranged = twin(case)
        if wrong is None and ranged is not None:
            wrong = disagreement(case, middle(case, evaluator.answer({"op": "query", **ranged})))
        if wrong is not None:
            failures[f"{case['id']}: {case['query']}"] = wrong
    assert not failures


def test_no_case_is_lost() -> None:
    documents = [json.loads(path.read_text()) for path in CASES.glob("*.json")]
    assert sum(len(document["cases"]) for document in documents) == 540


def _loaded(series: list[dict[str, Any]]) -> Evaluator:
    evaluator = Evaluator()
    evaluator.answer({"op": "load", "series": series})
    return evaluator
