"""The committed dashboards, and broken ones, against Grafana's own description of a dashboard."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dashboards.check.schema import Checker, MissingError
from dashboards.check.words import Words
from monitor.shipped import shipped_dashboards

PATHS = shipped_dashboards()
every_dashboard = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)

Dashboard = dict[str, Any]


@pytest.fixture(scope="module")
def checker() -> Checker:
    try:
        return Checker.generated()
    except MissingError as err:
        if os.environ.get("CI"):
            pytest.fail(str(err))
        pytest.skip(str(err))


@pytest.fixture(scope="module")
def engine() -> Dashboard:
    (path,) = (path for path in PATHS if path.stem == "vllm-engine")
    loaded: Dashboard = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@every_dashboard
def test_grafana_knows_every_key_and_value(checker: Checker, path: Path) -> None:
    assert list(checker.problems(json.loads(path.read_text(encoding="utf-8")))) == []


@every_dashboard
def test_grafana_has_every_unit_and_reducer(path: Path) -> None:
    assert list(Words.listed().problems(json.loads(path.read_text(encoding="utf-8")))) == []


def broken(dashboard: Dashboard, path: str, value: Any) -> Dashboard:
    """Return the dashboard with `value` at a path such as "panels/stat/options/colorMode": of the first such panel."""
    wrong = copy.deepcopy(dashboard)
    *way, last = path.split("/")
    part: Any = wrong
    for key in way:
        if isinstance(part, list):
            part = next(one for at, one in enumerate(part) if key in (str(at), one.get("type")))
        else:
            part = part.setdefault(key, {})
    part[last] = value
    return wrong


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("refrsh", "30s", "'refrsh' was unexpected"),
        ("links/0/keeptime", True, "'keeptime' was unexpected"),
        ("annotations/list/0/icoColor", "red", "'icoColor' was unexpected"),
        ("templating/list/1/refresh", 7, "7 is not one of [0, 1, 2]"),
        ("panels/row/colapsed", True, "'colapsed' was unexpected"),
        ("panels/stat/descripton", "…", "'descripton' was unexpected"),
        ("panels/stat/gridPos/w", "4", "'4' is not of type 'number'"),
        ("panels/stat/type", "stats", "no panel is of type stats"),
        ("panels/stat/targets/0/legend", "…", "unknown key legend"),
        ("panels/stat/fieldConfig/defaults/thresholds/mode", "absolut", "'absolut' is not one of"),
        ("panels/stat/options/colorMode", "valu", "'valu' is not one of"),
        ("panels/stat/fieldConfig/defaults/custom/lineWidth", 1, "'lineWidth' was unexpected"),
        ("panels/timeseries/options/legend/calc", [], "'calc' was unexpected"),
        ("panels/timeseries/fieldConfig/defaults/custom/fillOpacty", 8, "'fillOpacty' was unexpected"),
        (
            "panels/timeseries/fieldConfig/overrides",
            [{"matcher": {"id": "byName"}, "properties": [{"id": "custom.lineWith", "value": 2}]}],
            "'lineWith' was unexpected",
        ),
    ],
)
def test_a_slip_is_told_with_its_place(checker: Checker, engine: Dashboard, path: str, value: Any, told: str) -> None:
    (problem,) = checker.problems(broken(engine, path, value))
    assert told in problem


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("panels/stat/fieldConfig/defaults/unit", "tokps", "no unit 'tokps'"),
        (
            "panels/timeseries/fieldConfig/overrides",
            [{"matcher": {"id": "byName"}, "properties": [{"id": "unit", "value": "secs"}]}],
            "no unit 'secs'",
        ),
        ("panels/stat/options/reduceOptions/calcs", ["lastNotNul"], "no reducer 'lastNotNul'"),
        ("panels/timeseries/options/legend/calcs", ["max", "p101"], "no reducer 'p101'"),
    ],
)
def test_a_unit_or_reducer_that_grafana_lacks_is_told(engine: Dashboard, path: str, value: Any, told: str) -> None:
    (problem,) = Words.listed().problems(broken(engine, path, value))
    assert told in problem


def test_a_unit_may_be_made_up_of_a_suffix(engine: Dashboard) -> None:
    made_up = broken(engine, "panels/stat/fieldConfig/defaults/unit", "suffix: tok/s")
    assert list(Words.listed().problems(made_up)) == []
