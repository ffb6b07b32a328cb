"""
The life of alerts as a real Prometheus 2.42 had it: 26 minutes, eleven rules, one series with gaps and an end.

Recorded were ALERTS, ALERTS_FOR_STATE, the recorded series and the input, at every evaluation.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.model.sample import STALE
from tests.rules.life import LOOKBACK, Life, Values, groups_of

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "alerting" / "alert_timeline_prom242.json").read_text())
TIMELINE: dict[str, dict[str, Any]] = RECORDED["timeline"]
NOTATION = {"_": None, "stale": STALE}


def _values(notation: str) -> Values:
    return [NOTATION[word] if word in NOTATION else float(word) for word in notation.split()]


@pytest.fixture(scope="module")
def life() -> Life:
    # 2.42 counts a sample that is exactly as old as it looks back; Prometheus 3 and we do not.
    played = Life(groups_of(yaml.safe_dump(RECORDED["rules"])), lookback=LOOKBACK + 1)
    ((_, notation),) = RECORDED["series"]
    played.play({Labels.of(__name__="m", job="a"): _values(notation)}, len(TIMELINE))
    return played


@pytest.mark.parametrize("minute", range(len(TIMELINE)))
@pytest.mark.parametrize("expr", ["ALERTS", "ALERTS_FOR_STATE", "rec:m", "m"])
def test_each_evaluation_leaves_what_prometheus_left(life: Life, minute: int, expr: str) -> None:
    recorded = list(TIMELINE.values())[minute][expr]
    expected = sorted((Labels.of(labels), float(value)) for labels, value in recorded)
    assert life.answer(expr, minute * MINUTE) == expected


def test_prometheus_3_looks_back_a_moment_less() -> None:
    played = Life(groups_of(yaml.safe_dump(RECORDED["rules"])))
    ((_, notation),) = RECORDED["series"]
    played.play({Labels.of(__name__="m", job="a"): _values(notation)}, len(TIMELINE))
    there = [minute for minute in range(14, len(TIMELINE)) if played.answer("m", minute * MINUTE)]
    assert there == [14, 15, 16, 17, 18, 19, 24, 25]
    recorded = [minute for minute in range(14, len(TIMELINE)) if TIMELINE[f"{minute}m"]["m"]]
    assert recorded == [14, 15, 16, 17, 18, 19, 20, 24, 25]


def test_the_recording_tells_something() -> None:
    alerts = [alert for step in TIMELINE.values() for alert, _ in step["ALERTS"]]
    assert {alert["alertstate"] for alert in alerts} == {"pending", "firing"}
    rules = [rule for group in RECORDED["rules"]["groups"] for rule in group["rules"]]
    # The recorded series never was above the threshold of the one that reads it.
    assert {alert["alertname"] for alert in alerts} == {rule.get("alert", "UsesRec") for rule in rules} - {"UsesRec"}
