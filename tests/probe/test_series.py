"""From readings to samples: names and labels that rules rely on."""

import pytest

from monitor.model.labels import Labels
from monitor.model.target import Target
from monitor.probe.readings import Canary, Health, Model, Pool, Readings, health_of
from monitor.probe.series import HELP, probe_series

TARGET = Target(
    "vllm",
    "http://10.0.0.11:8000/metrics",
    Labels.of(job="vllm", instance="10.0.0.11:8000", team="llm"),
    Labels.of(__address__="10.0.0.11:8000"),
)
OWN = 'instance="10.0.0.11:8000", job="vllm"'


def written(readings: Readings) -> dict[str, float]:
    return {str(labels).replace(', team="llm"', ""): value for labels, value in probe_series(readings, TARGET)}


def test_what_is_not_known_is_no_series() -> None:
    assert probe_series(Readings(), TARGET) == []


def test_everything_known_is_a_series_with_the_targets_labels() -> None:
    readings = Readings(
        health=Health.UNAVAILABLE,
        version="0.32.0",
        models=(Model("llama", 8192), Model("alias", 8192)),
        server_load=5.0,
        pools=(Pool("0", 3200, 6.25), Pool("1", None, 6.5)),
        exposed=(("/v1/models", True), ("/is_sleeping", False)),
        canary=Canary(success=True, seconds=0.25),
    )
    found = {
        f'vllm_monitor_target_health{{{OWN}, result="ok"}}': 0,
        f'vllm_monitor_target_health{{{OWN}, result="refused"}}': 0,
        f'vllm_monitor_target_health{{{OWN}, result="timeout"}}': 0,
        f'vllm_monitor_target_health{{{OWN}, result="unavailable"}}': 1,
        f'vllm_monitor_target_health{{{OWN}, result="error"}}': 0,
        f"vllm_monitor_target_health_up{{{OWN}}}": 0,
        f'vllm_monitor_target_version_info{{{OWN}, version="0.32.0"}}': 1,
        f'vllm_monitor_target_max_model_len{{{OWN}, model_name="llama"}}': 8192,
        f'vllm_monitor_target_max_model_len{{{OWN}, model_name="alias"}}': 8192,
        f"vllm_monitor_target_server_load{{{OWN}}}": 5,
        f'vllm_monitor_target_kv_cache_tokens{{engine="0", {OWN}}}': 3200,
        f'vllm_monitor_target_max_concurrency{{engine="0", {OWN}}}': 6.25,
        f'vllm_monitor_target_max_concurrency{{engine="1", {OWN}}}': 6.5,
        f'vllm_monitor_target_exposed{{{OWN}, path="/v1/models"}}': 1,
        f'vllm_monitor_target_exposed{{{OWN}, path="/is_sleeping"}}': 0,
        f"vllm_monitor_target_canary_success{{{OWN}}}": 1,
        f"vllm_monitor_target_canary_seconds{{{OWN}}}": 0.25,
    }
    assert written(readings) == found
    assert all('team="llm"' in str(labels) for labels, _ in probe_series(readings, TARGET))
    assert {labels.name for labels, _ in probe_series(readings, TARGET)} == HELP.keys()


@pytest.mark.parametrize("health", list(Health))
def test_one_result_of_health_is_present(health: Health) -> None:
    samples = written(Readings(health=health))
    assert samples.pop(f"vllm_monitor_target_health_up{{{OWN}}}") == float(health is Health.OK)
    assert [key for key, value in samples.items() if value] == [
        f'vllm_monitor_target_health{{{OWN}, result="{health}"}}'
    ]
    assert len(samples) == len(Health)


@pytest.mark.parametrize(
    ("status", "health"),
    [
        (200, Health.OK),
        (503, Health.UNAVAILABLE),
        (500, Health.ERROR),
        (504, Health.ERROR),
        pytest.param(404, None, id="no such path there"),
        pytest.param(401, None, id="a gate in front"),
        pytest.param(302, None, id="sent elsewhere"),
    ],
)
def test_a_status_of_health_has_a_meaning(status: int, health: Health | None) -> None:
    assert health_of(status) is health
