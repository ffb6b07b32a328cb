"""What an alert's expression watches, and the number it is compared with."""

from pathlib import Path

import pytest

from monitor.charts.signal import Signal, came_of, sides, signal
from monitor.model.labels import Labels
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import AlertingRule

RULES = Path(__file__).parents[2] / "rules"


@pytest.mark.parametrize(
    ("expr", "watched", "threshold"),
    [
        ("queue > 10", "queue", 10.0),
        ("10 < queue", "queue", 10.0),
        ("up == 0", "up", 0.0),
        ("queue > 2 * 60", "queue", 120.0),
        ("free < -1.5e3 # a comment", "free", -1500.0),
        ("((queue > 10) and (load > 1))", "queue", 10.0),
        ("queue > 10 and queue > running unless asleep == 1", "queue", 10.0),
        ("p95 >= 0 > 2", "p95 >= 0", 2.0),
        ("sum by (or) (rate(errors{code='and'}[5m])) / 2 > 0.1", "sum by (or) (rate(errors{code='and'}[5m])) / 2", 0.1),
        ("(new or old) > 1", "(new or old)", 1.0),
    ],
)
def test_the_signal_is_what_is_compared_with_a_number(expr: str, watched: str, threshold: float) -> None:
    assert signal(expr) == Signal(watched, threshold)


@pytest.mark.parametrize(
    "expr",
    [
        "queue",
        "absent(up)",
        "queue > running",
        "queue > bool 10",
        "queue > 10 or load > 1",
        "queue > time()",
        "queue > scalar(limit)",
        "queue < Inf",
        "vector(1) and queue",
        "time() > bool 3",
        "queue[",
        "",
    ],
)
def test_without_a_comparison_with_a_number_there_is_none(expr: str) -> None:
    assert signal(expr) is None


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("queue > 10", ("queue > 10",)),
        ("(queue > 10 or load > 1)", ("queue > 10", "load > 1")),
        (
            "a > 1 and b or on (job) c > 2 and d OR ignoring (job, x) (e or f)",
            ("a > 1 and b", "c > 2 and d", "(e or f)"),
        ),
        ("sum by (or) (x)", ("sum by (or) (x)",)),
        ("queue[", ()),
    ],
)
def test_either_side_of_an_or_may_have_found_an_alert(expr: str, expected: tuple[str, ...]) -> None:
    assert sides(expr) == expected


def test_nearly_every_shipped_alert_has_a_signal() -> None:
    groups = read_rules(sorted(RULES.glob("*.rules.yaml")), lambda _: None, lambda *_: None)
    alerts = [rule for group in groups for rule in group.rules if isinstance(rule, AlertingRule)]
    assert len(alerts) > 10
    without = {alert.name for alert in alerts if not any(map(signal, sides(alert.expr)))}
    # Held against another series, or against several codes.
    assert without == {
        "VLLMEngineRankMissing",
        "VLLMGPUXidError",
        "VLLMKVPoolBelowOneRequest",
        "VLLMMaxConcurrencyFell",
        "VLLMMonitorTargetsVanished",
        "VLLMPrefixHitsCollapsed",
        "VLLMSpecDecodeAcceptanceFell",
        "VLLMThroughputCollapsed",
    }


def test_a_series_belongs_to_the_alert_that_came_of_it() -> None:
    alert = Labels.of(alertname="Long", severity="page", instance="a:1", job="vllm")
    assert came_of(alert, Labels.of({"__name__": "queue", "instance": "a:1", "job": "vllm"}))
    assert not came_of(alert, Labels.of({"__name__": "queue", "instance": "b:1", "job": "vllm"}))
