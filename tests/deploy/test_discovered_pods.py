"""The configuration for Kubernetes finds vLLM's pods, whoever deployed them, on the port where vLLM answers."""

from collections.abc import Mapping

import pytest

from monitor.config.read import load
from monitor.discovery.populate import populate
from monitor.jobs import settings_of
from monitor.model.labels import Labels
from monitor.model.targetgroup import TargetGroup
from tests.deploy.tools import DEPLOY

META = "__meta_kubernetes_pod_"
RUNNING = {META + "phase": "Running", META + "name": "engine-0", "__meta_kubernetes_namespace": "llm"}
STACK = {META + "label_app_kubernetes_io_component": "serving-engine", META + "container_port_name": "container-port"}
LLM_D = {META + "label_llm_d_ai_inference_serving": "true", META + "container_port_name": "metrics"}
ANNOTATED = {META + "annotation_vllm_monitor_scrape": "true"}


def found(port: int | None, meta: Mapping[str, str]) -> list[str]:
    """Return what is scraped of a pod at 10.1.2.3 that declares one port, or none."""
    (job,) = load(DEPLOY / "kubernetes" / "base" / "monitor.yaml").scrape_configs
    address = "10.1.2.3" if port is None else f"10.1.2.3:{port}"
    labels = {"__address__": address, META + "ip": "10.1.2.3", **RUNNING, **meta}
    group = TargetGroup("pod/llm/engine-0", (Labels.of(labels),))
    return [each.target.url for each in populate([group], settings_of(job)) if each.target is not None]


@pytest.mark.parametrize(
    ("port", "meta", "expected"),
    [
        pytest.param(8000, STACK, "10.1.2.3:8000", id="production-stack"),
        pytest.param(8200, LLM_D, "10.1.2.3:8200", id="llm-d"),
        pytest.param(9000, ANNOTATED | {META + "container_port_name": "http"}, "10.1.2.3:9000", id="annotated"),
        pytest.param(
            None, ANNOTATED | {META + "annotation_vllm_monitor_port": "8080"}, "10.1.2.3:8080", id="by-its-number"
        ),
        pytest.param(
            None,
            ANNOTATED | {META + "annotation_vllm_monitor_port": "8080", META + "ip": "fd00::7"},
            "[fd00::7]:8080",
            id="by-its-number-in-ipv6",
        ),
        pytest.param(9000, ANNOTATED | {META + "container_port_name": "debug"}, None, id="another-port"),
        pytest.param(8000, {META + "container_port_name": "http"}, None, id="another-pod"),
        pytest.param(8000, STACK | {META + "label_app_kubernetes_io_component": "router"}, None, id="the-router"),
        pytest.param(9109, LLM_D | {META + "container_init": "true"}, None, id="a-sidecars-port"),
        pytest.param(8000, STACK | {META + "phase": "Succeeded"}, None, id="a-pod-that-has-ended"),
        pytest.param(8000, STACK | {META + "phase": "Pending"}, None, id="a-pod-that-waits-for-a-node"),
    ],
)
def test_a_pod_is_found_where_vllm_answers(port: int | None, meta: Mapping[str, str], expected: str | None) -> None:
    assert found(port, meta) == ([f"http://{expected}/metrics"] if expected else [])
