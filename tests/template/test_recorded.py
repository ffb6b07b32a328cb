"""What Prometheus 3.5 made of some hundreds of templates, good and bad, must be what comes out here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.model.labels import Labels
from monitor.template import TemplateData, TemplateError, parse

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "templates" / "prometheus_3_5.json").read_text(encoding="utf-8")
)
SERIES = [
    (Labels.of(__name__="m", id="4", z="a b"), -0.001),
    (Labels.of(__name__="m", id="1"), 1.0),
    (Labels.of(__name__="m", id="2"), 2.0),
]
# Where we differ on purpose.
NOT_OURS = {
    "{{ 1i }}": "complex numbers: no function takes one",
    "{{ 9223372036854775808 }}": "refused when it is read, not when it is used",
    '{{ define "t" }}{{ template "t" . }}{{ end }}{{ template "t" }}': "our depth is bounded earlier",
    "{{ externalURL }}": "promtool has none and ends in a nil pointer",
    "{{ len nil }}": "an error in the words of Go's reflection",
    "{{ call 1 }}": "the same",
    "{{ call nil }}": "the same",
    '{{ query "m{" }}': "the words of the query engine",
    '{{ match "[" "a" }}': "the words of the regular expression engine",
    '{{ reReplaceAll "(" "e" "x" }}': "the same",
    r'{{ printf "\x00\x1f%q" "\x00\u200b\U0001F600\xff" }}': "a text that is not UTF-8",
    '{{ printf "%#.10o" 31427 }}': "one zero more",
}


def query(expr: str) -> list[tuple[Labels, float]]:
    if expr not in ("m", "nosuch"):
        raise ValueError("parse error")
    return SERIES if expr == "m" else []


def rows(key: str) -> Iterator[Any]:
    for row in RECORDED["templates"]:
        if key in row and row["template"] not in NOT_OURS:
            yield pytest.param(row["template"], row[key], id=row["template"].encode("unicode_escape").decode()[:60])


@pytest.mark.parametrize(("text", "expected"), list(rows("text")))
def test_it_expands_as_prometheus_expands_it(text: str, expected: str) -> None:
    labels, value = SERIES[0]
    data = TemplateData(labels, value, Labels.of(cluster="c1"), "http://ex.com/p", query)
    assert parse(text, "__alert_B").expand(data) == expected


@pytest.mark.parametrize(("text", "expected"), list(rows("refused")))
def test_it_is_refused_where_prometheus_refuses_it(text: str, expected: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse(text)
    assert expected.startswith(f"line {caught.value.line}: ")
