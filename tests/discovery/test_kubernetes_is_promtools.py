"""The labels of all roles, against the real promtool, which asks the same API server."""

import subprocess
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest
import yaml

from monitor.config.read import load
from monitor.discoveries import discovery_of
from monitor.discovery.populate import populate
from monitor.jobs import settings_of
from monitor.model.labels import Labels
from tests.discovery import promtool
from tests.discovery.apiserver import TOKEN, ApiServer, serving
from tests.discovery.cluster import endpoints, endpointslice, node, pod, service

ODD = {"a/b-c": "1", "d.e_f": "ü", "x" * 63: "y", "UPPER": "", "0": "zero"}
ROLES: dict[str, dict[str, Any]] = {
    "pod": {},
    "service": {},
    "endpoints": {},
    "endpointslice": {},
    "node": {},
    "pod of a namespace": {"role": "pod", "namespaces": {"names": ["other", "none"]}},
    "pod with its node": {"role": "pod", "attach_metadata": {"node": True}},
    "endpoints with nodes": {"role": "endpoints", "attach_metadata": {"node": True}},
}


def cluster(server: ApiServer) -> None:
    server.put("nodes", node("gpu-1"))
    server.put("pods", pod("vllm-0", ip="10.1.0.1", annotations={"prometheus.io/scrape": "true", **ODD}))
    two = [("vllm", [("http", 8000), ("metrics", 9000)]), ("bare", [])]
    server.put("pods", pod("vllm-1", ip="fd00::1", containers=two, init=[("proxy", [("p", 8200)])], ready="False"))
    server.put("pods", pod("pending", ip=""))
    server.put("pods", pod("elsewhere", "other", ip="10.2.0.1", node="gone"))
    server.put("services", service("engine"))
    server.put("services", service("outside", kind="ExternalName"))
    server.put("services", service("balanced", kind="LoadBalancer"))
    pods = ("vllm-0", "10.1.0.1"), ("vllm-1", "fd00::1")
    server.put("endpoints", endpoints("engine", ready=pods[:1], waiting=pods[1:]))
    server.put("endpoints", endpoints("nobodys", "other", ready=(("missing", "10.7.0.1"),)))
    server.put("endpointslices", endpointslice("engine-abc", pods=pods))
    server.put("endpointslices", endpointslice("orphan", "other", of="nothing"))


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("kubernetes")
    (folder / "token").write_text(TOKEN)
    with serving() as server:
        cluster(server)
        shared = {"api_server": server.url, "authorization": {"credentials_file": "token"}}
        jobs = [
            {"job_name": name, "kubernetes_sd_configs": [{"role": name, **shared, **more}]}
            for name, more in ROLES.items()
        ]
        file = folder / "prometheus.yml"
        times = {"scrape_interval": "1m", "scrape_timeout": "10s"}
        file.write_text(yaml.safe_dump({"global": times, "scrape_configs": jobs}))
        # It takes its whole time to be sure that there is no more: all at once.
        asked = {
            role: subprocess.Popen(promtool.command(file, role, "1s"), stdout=PIPE, stderr=DEVNULL) for role in ROLES
        }
        answers = {role: process.communicate()[0] for role, process in asked.items()}
        server.complaints.clear()
        yield server, file, {role: promtool.read(answer) for role, answer in answers.items()}
        assert server.complaints == []


@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_the_targets_and_labels_that_promtool_finds(
    configured: tuple[ApiServer, Path, dict[str, promtool.Found]], role: str
) -> None:
    server, file, answers = configured
    (job,) = [job for job in load(file).scrape_configs if job.job_name == role]
    discovery = discovery_of(job.kubernetes_sd_configs[0])
    found, _ = discovery.look()
    discovery.stop()
    assert found.errors == []
    ours = sorted(str(one.discovered_labels) for one in populate(found.groups, settings_of(job)))

    def labels(theirs: promtool.Found) -> list[str]:
        return sorted(str(Labels.of(one["discoveredLabels"])) for one in theirs)

    def is_all(theirs: promtool.Found) -> bool:
        return labels(theirs) == ours

    theirs = answers[role]
    if not is_all(theirs):
        theirs = promtool.found(file, role, is_all, ("5s", "30s"))
        # Those were its own.
        server.complaints.clear()
    assert ours
    assert ours == labels(theirs)
