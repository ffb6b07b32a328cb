"""
The rules that every dashboard keeps, each a function from a dashboard to what it has against it.

source: the documented rules of Grafana's dashboard linter, and rules of our own about recorded names, links and places.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import promql_parser
import yaml

from dashboards.check.words import Words
from tests.dashboards.queries import VARIABLES, filled, panels
from tests.rules.lint import names

ROOT = Path(__file__).parents[2]
UNITS = Words.listed().units
Dashboard = dict[str, Any]
Check = Callable[[Dashboard], Iterator[str]]

# What is not recorded by a rule and has one name everywhere: made by whoever scrapes or evaluates, or by the daemon.
SYNTHETIC = re.compile(r"up|ALERTS|scrape_duration_seconds|process_start_time_seconds|vllm_monitor_\w+")
# Selectors without the usual matchers, by the beginning of their name, and why.
UNMATCHED_JOB = {
    "vllm_monitor": "the daemon is a job of its own, which nobody chooses to look at a server",
    "vllm_engine:gpu_": "GPUs are told by the DCGM exporter, another job",
}
UNMATCHED_INSTANCE = {
    **UNMATCHED_JOB,
    "vllm_engine:slo_": "objectives are of a model, over all of its servers",
    "vllm_engine:prefix_cache_hits:ratio_": "counted by model, as the alert on it does",
    "vllm_engine:versions:count": "counted by model",
    "vllm_engine:config_variants:count": "counted by model",
    "vllm_engine:ranks:count": "counted by model",
    **{
        f"vllm_engine:{name}_bucket:increase5m": "counted by model"
        for name in ("ttft_seconds", "inter_token_seconds", "e2e_seconds", "request_prompt_tokens")
    },
}
# What the window has and the history has not, and why.
NOT_KEPT = {
    "_bucket:rate5m": "some seventy series of each engine, most of a server's history; kept are those of each model",
}
# Of targets though the daemon makes them: these have the target's own job and instance.
OF_TARGETS = ("vllm_monitor_target_", "vllm_monitor_rule_blind")
_RATES = re.compile(r"\b(?:rate|irate|increase)\([^)]*\[([^]]+)\]")


def complaints(dashboard: Dashboard) -> list[str]:
    """Return everything that the rules have against a dashboard, each with the name of the rule before it."""
    return [f"{name}: {text}" for name, check in CHECKS.items() for text in check(dashboard)]


def _frame(page: Dashboard) -> Iterator[str]:
    wanted = {"schemaVersion": 41, "editable": False, "graphTooltip": 1, "refresh": "30s", "timezone": "browser"}
    yield from (f"{key} is {page.get(key)}" for key, value in wanted.items() if page.get(key) != value)
    if not re.fullmatch(r"vllm-monitor-[a-z]{1,27}", page["uid"]):
        yield f"uid {page['uid']}"
    if not {"vllm", "vllm-monitor"} <= set(page["tags"]):
        yield f"tags {page['tags']}"
    if page["time"]["to"] != "now" or not page["description"]:
        yield "no description, or a time that does not end now"


def _ids(page: Dashboard) -> Iterator[str]:
    ids = [panel["id"] for panel in page["panels"]]
    if ids != list(range(1, len(ids) + 1)):
        yield f"ids are not 1 to {len(ids)} in order of place"


def _source(page: Dashboard) -> Iterator[str]:
    found = [one for one in page["templating"]["list"] if one["type"] == "datasource"]
    if [(one["name"], one["label"], one["query"]) for one in found] != [("datasource", "Data source", "prometheus")]:
        yield "no one variable `datasource` with the label `Data source`"


def _variables(page: Dashboard) -> Iterator[str]:
    variables = {one["name"]: one for one in page["templating"]["list"]}
    wanted = {"multi": True, "includeAll": True, "allValue": ".+", "refresh": 2}
    for name in ("job", "model_name", "instance", "engine"):
        one = variables.get(name, {})
        yield from (f"${name}: {key} is {one.get(key)}" for key, value in wanted.items() if one.get(key) != value)
        if one.get("datasource", {}).get("uid") != "${datasource}":
            yield f"${name} does not ask the chosen data source"
    yield from (f"${name} has no value in tests" for name in variables.keys() - VARIABLES.keys() - {"datasource"})


def _links_to_others(page: Dashboard) -> Iterator[str]:
    (link,) = page["links"] or [{}]
    if (link.get("type"), link.get("tags")) != ("dashboards", ["vllm-monitor"]):
        yield "no way to the other dashboards"
    if not (link.get("keepTime") and link.get("includeVars")):
        yield "the way to the others forgets the time or the variables"


def _annotations(page: Dashboard) -> Iterator[str]:
    found = page["annotations"]["list"]
    if not any("ALERTS{" in one.get("expr", "") and one["datasource"]["uid"] == "${datasource}" for one in found):
        yield "alerts are not drawn into the graphs"


def _words(page: Dashboard) -> Iterator[str]:
    titles = [panel["title"] for panel in panels(page)]
    yield from (f"two panels are called {title}" for title in {one for one in titles if titles.count(one) > 1})
    for panel in panels(page):
        if not panel["title"] or not panel.get("description"):
            yield f"panel {panel['id']} has no title or no description"


def _units(page: Dashboard) -> Iterator[str]:
    for panel in panels(page):
        config = panel["fieldConfig"]
        found = [config["defaults"].get("unit", "")]
        found += [one["value"] for over in config["overrides"] for one in over["properties"] if one["id"] == "unit"]
        for unit in found:
            # Grafana puts a space before a suffix by itself.
            if unit not in UNITS and not re.fullmatch(r"suffix:\S+", unit):
                yield f"{panel['title']}: no unit {unit!r}"


def _numbers(page: Dashboard) -> Iterator[str]:
    """A large number is of now: where there is none it says so, and neither in green nor by what was long ago."""
    for panel in (one for one in panels(page) if one["type"] == "stat"):
        nothing = [one["options"] for one in panel["fieldConfig"]["defaults"]["mappings"] if one["type"] == "special"]
        if [(one["match"], one["result"]["color"]) for one in nothing] != [("null+nan", "text")]:
            yield f"{panel['title']}: no data has a colour"
        ends = (target.get("instant") or target["expr"].endswith(" or vector(NaN)") for target in panel["targets"])
        if panel["options"]["reduceOptions"]["calcs"] != ["last"] or not all(ends):
            yield f"{panel['title']} shows the last value of a series that ended"


def _cells(page: Dashboard) -> Iterator[str]:
    """A cell of a table that has no value has no colour either."""
    for panel in panels(page):
        for column in panel["fieldConfig"]["overrides"]:
            look = {one["id"]: one["value"] for one in column["properties"]}
            nothing = [one["options"] for one in look.get("mappings", ()) if one["type"] == "special"]
            colours = [(one["match"], one["result"]["color"]) for one in nothing]
            if "custom.cellOptions" in look and colours != [("null+nan", "transparent")]:
                yield f"{panel['title']}: {column['matcher']['options']} has a colour where there is no value"


def _sources_of_panels(page: Dashboard) -> Iterator[str]:
    for panel in panels(page):
        if panel["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
            yield f"{panel['title']} does not ask the chosen data source"


def _targets(page: Dashboard) -> Iterator[str]:
    for panel in panels(page):
        refs = [target["refId"] for target in panel.get("targets", [])]
        if not refs or len(refs) != len(set(refs)):
            yield f"{panel['title']} asks nothing, or two queries have one name"
        for target in panel.get("targets", []):
            if not target.get("legendFormat") or bool(target.get("instant")) == bool(target.get("range")):
                yield f"{panel['title']}: a query without a legend, or neither of an instant nor of a range"


def _parses(page: Dashboard) -> Iterator[str]:
    for title, expr in _queries(page):
        try:
            promql_parser.parse(filled(expr))
        except (ValueError, KeyError) as err:
            yield f"{title}: {err}"


def _interval(page: Dashboard) -> Iterator[str]:
    for title, expr in _queries(page):
        for length in _RATES.findall(expr):
            if length != "$__rate_interval":
                yield f"{title}: a rate over {length}, not over $__rate_interval"


def _counters(page: Dashboard) -> Iterator[str]:
    for title, expr in _queries(page):
        for name in names(filled(expr)):
            if name.endswith("_total") and not re.search(rf"\b(?:rate|irate|increase)\({name}\b", expr):
                yield f"{title}: {name} without rate or increase"


def _matchers(page: Dashboard) -> Iterator[str]:
    for title, expr in _queries(page):
        for name, matchers in _selectors(expr):
            for label, excused in (("job", UNMATCHED_JOB), ("instance", UNMATCHED_INSTANCE)):
                wanted = name.startswith(OF_TARGETS) or not name.startswith(tuple(excused))
                if wanted and not re.search(rf'\b{label}=~"\${label}\|?"', matchers):
                    yield f"{title}: {name} is not narrowed by {label}"


def _recorded(page: Dashboard) -> Iterator[str]:
    known = _recorded_names()
    for title, expr in _queries(page):
        for name in names(filled(expr)):
            if name not in known and not SYNTHETIC.fullmatch(name):
                yield f"{title}: nothing records {name}"


def _kept(page: Dashboard) -> Iterator[str]:
    patterns = _kept_names()
    for title, expr in _queries(page):
        for name in names(filled(expr)):
            if not name.endswith(tuple(NOT_KEPT)) and not any(pattern.fullmatch(name) for pattern in patterns):
                yield f"{title}: {name} is not in rules/history.yaml"


def _places(page: Dashboard) -> Iterator[str]:
    taken: set[tuple[int, int]] = set()
    for panel in page["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        if cells & taken or max(x for x, _ in cells) >= 24:
            yield f"{panel['title']} lies over another panel, or beside the page"
        taken |= cells


def _links(page: Dashboard) -> Iterator[str]:
    pages = {json.loads(path.read_text())["uid"] for path in (ROOT / "dashboards").glob("*.json")}
    for uid in re.findall(r"/d/([\w-]+)", json.dumps(page)):
        if uid not in pages:
            yield f"a link to {uid}, which is no dashboard"


def _runbooks(page: Dashboard) -> Iterator[str]:
    text = (ROOT / "docs" / "runbooks" / "README.md").read_text()
    headings = {heading.lower() for heading in re.findall(r"^## (\w+)$", text, re.MULTILINE)}
    for panel in panels(page):
        for link in panel.get("links", []):
            if link["url"].partition("#")[2] not in headings:
                yield f"{panel['title']}: no heading for {link['url']}"


def _queries(page: Dashboard) -> Iterator[tuple[str, str]]:
    for panel in panels(page):
        yield from ((panel["title"], target["expr"]) for target in panel.get("targets", []))


def _selectors(expr: str) -> Iterator[tuple[str, str]]:
    """Yield each metric of a query with the text of its matchers."""
    for name in names(filled(expr)):
        for found in re.finditer(rf"(?<![\w:]){re.escape(name)}(?![\w:])(\{{[^}}]*\}})?", expr):
            yield name, found[1] or ""


@cache
def _recorded_names() -> Collection[str]:
    documents = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in (ROOT / "rules").glob("*.rules.yaml")]
    rules = [rule for document in documents for group in document["groups"] for rule in group["rules"]]
    return {rule["record"] for rule in rules if "record" in rule}


@cache
def _kept_names() -> list[re.Pattern[str]]:
    kept = yaml.safe_load((ROOT / "rules" / "history.yaml").read_text())["match"]
    found = (re.fullmatch(r'\{__name__=~"(.+)"\}', selector) for selector in kept)
    return [re.compile(regex[1] if regex else re.escape(selector)) for regex, selector in zip(found, kept, strict=True)]


CHECKS: dict[str, Check] = {
    "frame": _frame,
    "ids": _ids,
    "data source": _source,
    "variables": _variables,
    "links to others": _links_to_others,
    "annotations": _annotations,
    "words": _words,
    "units": _units,
    "numbers": _numbers,
    "cells": _cells,
    "panels' data source": _sources_of_panels,
    "targets": _targets,
    "parses": _parses,
    "interval": _interval,
    "counters": _counters,
    "matchers": _matchers,
    "recorded": _recorded,
    "kept": _kept,
    "places": _places,
    "links": _links,
    "runbooks": _runbooks,
}
