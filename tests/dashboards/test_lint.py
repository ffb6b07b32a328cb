"""Every dashboard keeps the rules, and every rule finds what breaks it."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.dashboards.lint import CHECKS, complaints
from tests.dashboards.queries import dashboards, panels

Dashboard = dict[str, Any]
PAGES = {page["uid"]: page for page in dashboards()}


@pytest.mark.parametrize("uid", PAGES)
def test_a_dashboard_keeps_every_rule(uid: str) -> None:
    assert complaints(PAGES[uid]) == []


def _variable(page: Dashboard, name: str) -> Dashboard:
    return next(one for one in page["templating"]["list"] if one["name"] == name)


def _panel(page: Dashboard) -> Dashboard:
    return next(panel for panel in panels(page) if panel["title"] == "Requests")


def _number(page: Dashboard) -> Dashboard:
    return next(panel for panel in panels(page) if panel["type"] == "stat")


def _drop_mappings(page: Dashboard) -> None:
    (table,) = (panel for panel in panels(page) if panel["type"] == "table")
    for column in table["fieldConfig"]["overrides"]:
        column["properties"] = [one for one in column["properties"] if one["id"] != "mappings"]


def _ask(expr: str) -> Callable[[Dashboard], None]:
    def change(page: Dashboard) -> None:
        _panel(page)["targets"][0]["expr"] = expr

    return change


CHOSEN = 'job=~"$job", instance=~"$instance"'
BROKEN: dict[str, list[Callable[[Dashboard], Any]]] = {
    "frame": [
        lambda page: page.update(schemaVersion=42),
        lambda page: page.update(editable=True),
        lambda page: page.update(uid="Overview"),
        lambda page: page.update(tags=["vllm"]),
        lambda page: page.update(description=""),
    ],
    "ids": [lambda page: _panel(page).update(id=1), lambda page: page["panels"].reverse()],
    "data source": [
        lambda page: _variable(page, "datasource").update(label="Source"),
        lambda page: page["templating"]["list"].append(_variable(page, "datasource")),
    ],
    "variables": [
        lambda page: _variable(page, "job").update(multi=False),
        lambda page: _variable(page, "instance").update(allValue=".*"),
        lambda page: _variable(page, "engine").update(refresh=1),
        lambda page: _variable(page, "engine").update(name="rank"),
        lambda page: _variable(page, "model_name")["datasource"].update(uid="prometheus"),
    ],
    "links to others": [
        lambda page: page["links"].clear(),
        lambda page: page["links"][0].update(includeVars=False),
    ],
    "annotations": [lambda page: page["annotations"]["list"].clear()],
    "words": [
        lambda page: _panel(page).update(title="Tokens"),
        lambda page: _panel(page).update(description=""),
    ],
    "units": [
        lambda page: _panel(page)["fieldConfig"]["defaults"].update(unit="tokps"),
        lambda page: _panel(page)["fieldConfig"]["defaults"].pop("unit"),
        lambda page: _panel(page)["fieldConfig"]["overrides"].append({"properties": [{"id": "unit", "value": "x"}]}),
    ],
    "numbers": [
        lambda page: _number(page)["targets"][0].update(expr="count(vllm_engine:up)"),
        lambda page: _number(page)["options"]["reduceOptions"].update(calcs=["lastNotNull"]),
        lambda page: _number(page)["fieldConfig"]["defaults"]["mappings"].pop(),
    ],
    "cells": [_drop_mappings],
    "panels' data source": [lambda page: _panel(page)["datasource"].update(uid="prometheus")],
    "targets": [
        lambda page: _panel(page)["targets"].clear(),
        lambda page: _panel(page)["targets"][0].update(refId="B"),
        lambda page: _panel(page)["targets"][0].update(legendFormat=""),
        lambda page: _panel(page)["targets"][0].update(range=False),
    ],
    "parses": [_ask("sum(up"), _ask('up{job=~"$nobody"}')],
    "interval": [_ask(f"rate(vllm_monitor_x_total{{{CHOSEN}}}[5m])")],
    "counters": [_ask(f"sum(vllm_monitor_x_total{{{CHOSEN}}})")],
    "matchers": [
        _ask('up{job=~"$job"}'),
        _ask('up{instance=~"$instance"}'),
        _ask(f"up{{{CHOSEN}}} / up"),
        _ask('vllm_engine:requests_running{job="vllm", instance=~"$instance"}'),
        _ask("vllm_monitor_target_health_up"),
    ],
    "recorded": [_ask(f"vllm:num_requests_running{{{CHOSEN}}}"), _ask(f"vllm_engine:nothing{{{CHOSEN}}}")],
    "kept": [_ask(f"vllm_engine:requests_waiting:min_90s{{{CHOSEN}}}")],
    "places": [
        lambda page: _panel(page)["gridPos"].update(x=1),
        lambda page: panels(page)[-1]["gridPos"].update(w=25),
    ],
    "links": [lambda page: _panel(page).update(links=[{"url": "/d/vllm-monitor-engines"}])],
    "runbooks": [lambda page: _panel(page)["links"][0].update(url="https://example.org/#vllmnothing")],
}


def test_every_rule_has_something_that_breaks_it() -> None:
    assert BROKEN.keys() == CHECKS.keys()


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        pytest.param(rule, change, id=f"{rule}-{number}")
        for rule, changes in BROKEN.items()
        for number, change in enumerate(changes)
    ],
)
def test_a_rule_finds_what_breaks_it(rule: str, change: Callable[[Dashboard], Any]) -> None:
    page = deepcopy(PAGES["vllm-monitor-overview"])
    change(page)
    assert list(CHECKS[rule](json.loads(json.dumps(page))))
