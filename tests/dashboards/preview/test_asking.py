"""What a dashboard asks, and in which words."""

from typing import Any

import pytest

from dashboards.preview.asking import Asking
from dashboards.preview.sheet import Look, sheet
from dashboards.preview.source import Period, Source, SourceError
from dashboards.preview.variables import Variables
from monitor.model.instant import HOUR, MINUTE, SECOND
from tests.dashboards.preview.answering import answering

END = 1_700_000_000_000
PERIOD = Period(END - HOUR, END)
JOB = {
    "name": "job",
    "label": "Job",
    "type": "query",
    "query": "label_values(up, job)",
    "includeAll": True,
    "allValue": ".+",
}
INSTANCE = {"name": "instance", "type": "query", "query": 'label_values(up{job=~"$job"}, instance)', "multi": True}
LENGTH = {"name": "length", "type": "custom", "query": "2048, 4096", "current": {"value": "4096"}}
DASHBOARD = {"templating": {"list": [{"name": "datasource", "type": "datasource"}, JOB, INSTANCE, LENGTH]}}
MATRIX = {"resultType": "matrix", "result": [{"metric": {"instance": "a"}, "values": [[1.0, "2"]]}]}
VECTOR = {"resultType": "vector", "result": [{"metric": {"instance": "a"}, "value": [1.0, "2"]}]}


def stat(*targets: dict[str, Any]) -> dict[str, Any]:
    at = {"x": 0, "y": 0, "w": 24, "h": 4}
    return {"type": "stat", "title": "of $length", "gridPos": at, "targets": list(targets)}


def test_variables_are_at_all_or_at_their_first_value_and_one_may_read_another() -> None:
    with answering(label__job__values=["vllm"], label__instance__values=["b:1", "a:1"]) as server:
        variables = Variables.of(DASHBOARD, Source(server.url), PERIOD, {})
    assert list(variables.said()) == ["Job: All", "instance: a:1", "length: 4096"]
    assert [asked["match[]"] for _, asked in server.asked] == ["up", 'up{job=~".+"}']


@pytest.mark.parametrize(
    ("expr", "filled"),
    [
        ('up{job=~"$job"}', 'up{job=~".+"}'),
        ('up{instance=~"${instance:regex}"}', 'up{instance=~"a\\\\.b:1"}'),
        ("x > [[length]]", "x > 4096"),
        ("rate(x[$__rate_interval])", "rate(x[1m])"),
        ("x[$__range] + $nobody", "x[3600s] + $nobody"),
    ],
)
def test_a_query_is_filled_in(expr: str, filled: str) -> None:
    given = {"instance": ["a.b:1"]}
    with answering(label__job__values=[], query_range=MATRIX) as server:
        source = Source(server.url)
        variables = Variables.of(DASHBOARD, source, PERIOD, given)
        Asking(source, PERIOD, 15 * SECOND).panel(stat({"expr": expr}), variables, 1280)
    assert server.asked[-1][1]["query"] == filled


def test_several_values_become_one_pattern() -> None:
    with answering(label__job__values=[]) as server:
        variables = Variables.of(DASHBOARD, Source(server.url), PERIOD, {"instance": ["a:1", "b:1"]})
    assert variables.filled("$instance") == "(a:1|b:1)"
    assert variables.shown("$instance") == "a:1 + b:1"


def test_a_range_is_asked_for_in_steps_that_grafana_would_take() -> None:
    with answering(query_range=MATRIX) as server:
        asking = Asking(Source(server.url), Period(END - 24 * HOUR, END), 15 * SECOND)
        asking.panel(stat({"expr": "x"}), Variables({}), 600)
    (_, asked) = server.asked[0]
    assert float(asked["step"]) == 5 * MINUTE / 1000
    assert float(asked["end"]) % 300 == float(asked["start"]) % 300 == 0


def test_what_is_asked_for_the_end_alone_is_one_point() -> None:
    with answering(query=VECTOR) as server:
        asking = Asking(Source(server.url), PERIOD, 15 * SECOND)
        target = {"expr": "x", "instant": True, "refId": "B", "legendFormat": "of $length", "format": "table"}
        answers, error = asking.panel(stat(target), Variables({}), 600)
    assert (error, server.asked[0][1]["time"]) == ("", "1700000000.0")
    assert [(one["refId"], one["format"], one["kind"]) for one in answers] == [("B", "table", "vector")]
    assert answers[0]["result"][0]["values"] == [[1.0, "2"]]


def test_a_sheet_says_which_panels_have_no_answer_and_which_nothing_to_show() -> None:
    nothing = {"resultType": "matrix", "result": []}
    panels = [stat({"expr": "x"}), stat({"expr": "x", "instant": True, "refId": "B"}), stat({"refId": "C"})]
    with answering(query_range=nothing) as server:
        asking = Asking(Source(server.url), PERIOD, 15 * SECOND)
        page = sheet({"title": "all", "panels": panels}, asking, Variables({}), Look())
        first = sheet({"title": "one", "panels": panels}, asking, Variables({}), Look(panels=1))
    assert (len(first.boxes), first.failed) == (1, [])
    assert page.empty == ["of $length"]
    assert page.failed == [
        "of $length: B: bad_data: nobody knows query",
        "of $length: C: the preview asks for nothing but PromQL",
    ]
    assert "</" not in page.as_json()


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceError, match=r"http://127\.0\.0\.1:1 does not answer"):
        Source("http://127.0.0.1:1").instant("up", END)
