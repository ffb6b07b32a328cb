"""docs/discovery.md: each example finds, in a cluster as it describes it, what it says."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.commands.discovered import look
from monitor.config.read import load
from monitor.model.relabel import Action
from tests.discovery.apiserver import TOKEN, ApiServer, serving
from tests.discovery.cluster import pod

TEXT = (Path(__file__).parents[2] / "docs" / "discovery.md").read_text()
STACK = {
    "app.kubernetes.io/component": "serving-engine",
    "model": "llama3",
    "helm-release-name": "vllm",
    "environment": "test",
}
LLM_D = {"llm-d.ai/inference-serving": "true", "llm-d.ai/role": "decode"}
ASKS = {"prometheus.io/scrape": "true"}
# Of each example: the pods that there are, and the targets that it finds, with their labels but for job and instance.
EXAMPLES: dict[str, tuple[list[Any], dict[str, dict[str, str]]]] = {
    "production-stack": (
        [
            pod("llama3-0", "vllm", "10.0.0.1", labels=STACK, init=[("wait", [("container-port", 1)])]),
            pod("llama3-old", "vllm", "10.0.0.2", labels=STACK) | {},
            pod("router", "vllm", "10.0.0.3", containers=[("router", [("router-sport", 8000)])]),
            pod("other", "elsewhere", "10.0.0.4", labels=STACK),
        ],
        {"http://10.0.0.1:8000/metrics": {"model": "llama3", "namespace": "vllm", "pod": "llama3-0"}},
    ),
    "llm-d": (
        [
            pod(
                "decode-0",
                "llm-d",
                "10.0.0.1",
                labels=LLM_D,
                containers=[("vllm", [("metrics", 8200)])],
                init=[("routing-proxy", [("http", 8000)])],
            ),
            pod(
                "prefill-0",
                "llm-d",
                "10.0.0.2",
                labels=LLM_D | {"llm-d.ai/role": "prefill"},
                containers=[("vllm", [("metrics", 8000)])],
            ),
        ],
        {
            "http://10.0.0.1:8200/metrics": {"role": "decode", "namespace": "llm-d", "pod": "decode-0"},
            "http://10.0.0.2:8000/metrics": {"role": "prefill", "namespace": "llm-d", "pod": "prefill-0"},
        },
    ),
    "annotated": (
        [
            pod("a", ip="10.0.0.1", annotations=ASKS, labels={"app": "chat", "tier": "x"}),
            pod("b", ip="10.0.0.2", annotations=ASKS | {"prometheus.io/port": "9000", "prometheus.io/path": "/m"}),
            pod("c", ip="10.0.0.3"),
        ],
        {"http://10.0.0.1:8000/metrics": {"app": "chat"}, "http://10.0.0.2:9000/m": {"app": "vllm"}},
    ),
}
EXAMPLES["production-stack"][0][1]["status"]["phase"] = "Succeeded"


def examples() -> dict[str, Any]:
    """Return the jobs of the page that Kubernetes is asked for."""
    blocks = re.findall(r"```yaml\n(scrape_configs:.*?)```", TEXT, flags=re.DOTALL)
    jobs = [yaml.safe_load(block)["scrape_configs"][0] for block in blocks]
    return {job["job_name"]: job for job in jobs if "kubernetes_sd_configs" in job}


def selected(server: ApiServer, pods: list[Any], job: dict[str, Any]) -> None:
    """Put the pods into a cluster, but for those that a selector would leave out: the stub has none."""
    selectors = [one["label"] for section in job["kubernetes_sd_configs"] for one in section.get("selectors", ())]
    wanted = dict(selector.split("=") for selector in selectors)
    for one in pods:
        if wanted.items() <= one["metadata"]["labels"].items():
            server.put("pods", one)


def test_every_example_is_tried() -> None:
    assert examples().keys() == EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_finds_what_it_says(tmp_path: Path, name: str) -> None:
    pods, expected = EXAMPLES[name]
    job = examples()[name]
    (tmp_path / "token").write_text(TOKEN)
    with serving() as server:
        selected(server, pods, job)
        for section in job["kubernetes_sd_configs"]:
            section |= {"api_server": server.url, "authorization": {"credentials_file": "token"}}
        (tmp_path / "monitor.yaml").write_text(yaml.safe_dump({"scrape_configs": [job]}))
        (looked,) = look(load(tmp_path / "monitor.yaml").scrape_configs)
        assert server.complaints == []
    assert looked.errors == ()
    found = {target.url: target.labels.without(("job", "instance")).as_dict() for target in looked.targets}
    assert found == expected


def test_the_page_tells_of_every_action() -> None:
    table = TEXT[TEXT.index("| action |") :]
    assert set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))) == {*Action}


def test_the_rights_are_those_that_the_roles_need() -> None:
    (block,) = re.findall(r"```yaml\n(rules:.*?)```", TEXT, flags=re.DOTALL)
    rules = yaml.safe_load(block)["rules"]
    assert all(rule["verbs"] == ["get", "list", "watch"] for rule in rules)
    granted = {resource for rule in rules for resource in rule["resources"]}
    table = re.findall(r"^\| `\w+` \| .* \| ([\w, ]+) \|$", TEXT, re.MULTILINE)
    assert granted == {resource for cell in table for resource in cell.split(", ")}
