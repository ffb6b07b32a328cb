"""Prometheus' own rule groups, by promtool: it is told how everything stood, and says what did not."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from monitor.model.instant import Instant, format_duration, to_seconds
from monitor.model.labels import ALERT_NAME, METRIC_NAME
from monitor.model.sample import format_value, is_stale
from monitor.rules.alerting import AlertState
from monitor.rules.alerting_rule import ALERT_STATE, ALERTS, ALERTS_FOR_STATE
from tests.sameness.history import PHASE, STEP, History
from tests.sameness.moments import Moments

# Series whose values are instants: promtool's clock begins at 1970.
_INSTANTS = frozenset({"process_start_time_seconds", "vllm:lora_requests_info"})
_TIME = re.compile(r"time: ([0-9hms.]+)")


def differences(promtool: str, history: History, moments: Moments, folder: Path) -> list[str]:
    """Return what is not as promtool finds it, as the other engines' differences are written."""
    path = folder / f"{history.name}.test.yaml"
    with path.open("w") as file:
        yaml.dump(_test(history, moments), file, Dumper=yaml.CSafeDumper, width=1_000_000)
    done = subprocess.run([promtool, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    said = (done.stdout + done.stderr).splitlines()
    return [f"{history.start + _milliseconds(found[1])}: {line}" for line in said if (found := _TIME.search(line))] or [
        f"{history.start}: {line}" for line in said
    ]


def _test(history: History, moments: Moments) -> dict[str, Any]:
    unit = {
        # Between two scrapes there is nothing.
        "interval": format_duration(PHASE),
        "input_series": [
            {"series": str(labels), "values": _values(labels.value(METRIC_NAME), dict(samples), history)}
            for labels, samples in history.samples()
        ],
        "alert_rule_test": list(_alerts(history, moments)),
        "promql_expr_test": list(_series(history, moments)),
    }
    step = format_duration(STEP)
    return {
        "rule_files": [str(path) for path in history.rules],
        "evaluation_interval": step,
        "group_eval_order": [group.name for group in history.groups()],
        "tests": [unit],
    }


def _values(name: str, samples: dict[Instant, float], history: History) -> str:
    shift = to_seconds(history.start) if name in _INSTANTS else 0.0
    notation = (samples.get(at) for at in range(history.start, history.end + STEP, PHASE))
    return " ".join("_" if one is None else "stale" if is_stale(one) else format_value(one - shift) for one in notation)


def _alerts(history: History, moments: Moments) -> Iterator[dict[str, Any]]:
    """Yield the alerts that fire at each evaluation, with all they say."""
    for at, now in moments.items():
        firing = [(labels, one) for labels, one in now.items() if one.state == AlertState.FIRING.value]
        for name in sorted({labels.value(ALERT_NAME) for labels, _ in firing}):
            yield {
                "eval_time": format_duration(at - history.start),
                "alertname": name,
                "exp_alerts": [
                    {"exp_labels": dict(labels), "exp_annotations": dict(one.annotations or ())}
                    for labels, one in firing
                    if labels.value(ALERT_NAME) == name
                ],
            }


def _series(history: History, moments: Moments) -> Iterator[dict[str, Any]]:
    """Yield all alerts of each evaluation, the pending ones too, and since when they are active."""
    for at, now in moments.items():
        states = [
            {"labels": str(labels.with_({METRIC_NAME: ALERTS, ALERT_STATE: one.state})), "value": 1.0}
            for labels, one in now.items()
        ]
        since = [
            {
                "labels": str(labels.with_({METRIC_NAME: ALERTS_FOR_STATE})),
                "value": to_seconds(one.active_at - history.start),
            }
            for labels, one in now.items()
        ]
        for expr, samples in ((ALERTS, states), (ALERTS_FOR_STATE, since)):
            yield {"expr": expr, "eval_time": format_duration(at - history.start), "exp_samples": samples}


def _milliseconds(go: str) -> int:
    units = {"h": 3_600_000, "m": 60_000, "s": 1000}
    return round(sum(float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+)([hms])", go)))
