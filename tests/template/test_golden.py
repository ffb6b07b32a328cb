"""Every template that was put to a real Prometheus 2.42, with every value, must give the same text here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.model.labels import Labels
from monitor.template import TemplateData, parse

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "templates" / "prometheus_2_42.json").read_text()
)
# There promtool ran without an external URL, which ends in a nil pointer of its own; see test_functions.py for ours.
NOT_OURS = {"external"}


def cases() -> Iterator[Any]:
    for index, row in enumerate(GOLDEN["values"]):
        for name, text in GOLDEN["templates"].items():
            labels = Labels.of(__name__="m", id=str(index))
            yield pytest.param(text, "A", labels, float(row["value"]), row["out"][name], id=f"{name}-{row['value']}")
    for name, text in GOLDEN["misc_templates"].items():
        if name not in NOT_OURS:
            expected = GOLDEN["misc"]["annotations"][name]
            yield pytest.param(text, "B", Labels.of(__name__="m", id="4"), -0.001, expected, id=name)


def query(expr: str) -> list[tuple[Labels, float]]:
    """Answer the three queries of the golden templates; the series are those of the first values."""
    answers = {
        "m > 1e8": [("31", 1e9)],
        'sort(m{id=~"[123]"})': [("2", -1.0), ("3", 0.5), ("1", 1.0)],
        'm{id=~"[123]"}': [("3", 0.5), ("1", 1.0), ("2", -1.0)],
    }
    return [(Labels.of(__name__="m", id=series), value) for series, value in answers.get(expr, [])]


@pytest.mark.parametrize(("text", "alert", "labels", "value", "expected"), list(cases()))
def test_a_template_gives_what_prometheus_gives(
    text: str, alert: str, labels: Labels, value: float, expected: str
) -> None:
    assert parse(text, f"__alert_{alert}").expand(TemplateData(labels, value, query=query)) == expected
