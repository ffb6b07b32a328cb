"""The kustomizations: built by the real kustomize, and good for each Kubernetes that has native sidecars."""

import re
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor import __version__
from monitor.config.flags import Flags, from_flags
from monitor.config.read import load
from tests.deploy.objects import Object, kustomized, of_kind, pod_of, wrong_with
from tests.deploy.published import IMAGE
from tests.deploy.tools import DEPLOY, ROOT
from tests.deploy.wiring import loose_ends

OVERLAYS = DEPLOY / "kubernetes" / "overlays"
LOOKS_AT_PODS = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
# A Kubernetes object may have so many bytes.
LIMIT = 1 << 20
# What the chart of the production stack renders, as far as it matters here: an engine, and the router.
POD = ("spec", "template", "spec")
# What a user writes.
OWN = "storage: {path: /var/lib/vllm-monitor/data}\nweb: {listen: ':9109'}\n"
DAEMON = (*POD, "containers", 0)
PRODUCTION_STACK = Path(__file__).parents[1] / "data" / "production-stack.yaml"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the overlays, with the one file in it that a user renders."""
    copy = tmp_path_factory.mktemp("tree")
    shutil.copytree(DEPLOY / "kubernetes", copy / "deploy" / "kubernetes")
    dashboards = copy / "dashboards"
    dashboards.mkdir()
    for path in (*(ROOT / "dashboards").glob("*.json"), ROOT / "dashboards" / "kustomization.yaml"):
        shutil.copy(path, dashboards)
    shutil.copy(PRODUCTION_STACK, copy / "deploy/kubernetes/overlays/production-stack/engines/rendered.yaml")
    return copy / "deploy" / "kubernetes" / "overlays"


@pytest.fixture(scope="module")
def built(tree: Path) -> dict[str, list[Object]]:
    return {path.parent.name: kustomized(path.parent) for path in sorted(tree.glob("*/kustomization.yaml"))}


def test_every_overlay_is_good_for_each_version(built: dict[str, list[Object]]) -> None:
    assert set(built) == {"stand-alone", "prometheus-operator", "sidecar", "production-stack"}
    assert wrong_with([one for objects in built.values() for one in objects]) == []


def test_the_overlay_that_the_page_shows_is_one(tree: Path) -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    (shown,) = re.findall(r"```yaml\n(apiVersion: kustomize.*?)```", page, re.DOTALL)
    own = tree / "own"
    own.mkdir()
    (own / "kustomization.yaml").write_text(shown)
    (own / "monitor.yaml").write_text(OWN)
    objects = kustomized(own)
    assert wrong_with(objects, "1.33") == []
    (deployment,) = of_kind(objects, "Deployment")
    assert pod_of(deployment)["containers"][0]["image"] == "registry.internal/vllm-monitor:main"
    assert {one["metadata"].get("namespace", "llm") for one in objects} == {"llm"}
    assert loose_ends(objects) == []
    (role,) = of_kind(objects, "ClusterRole")
    assert role["rules"] == LOOKS_AT_PODS
    (policy,) = of_kind(objects, "NetworkPolicy")
    # It reaches what it finds.
    assert {"namespaceSelector": {}} in policy["spec"]["egress"][-1]["to"]
    (binding,) = of_kind(objects, "ClusterRoleBinding")
    assert binding["subjects"][0]["namespace"] == "llm"
    (found,) = [one["data"] for one in of_kind(objects, "ConfigMap")]
    values = (DEPLOY / "kubernetes" / "base" / "values.yaml").read_text()
    assert found == {"monitor.yaml": OWN, "values.yaml": values}


def test_no_kubernetes_before_1_28_takes_a_native_sidecar(built: dict[str, list[Object]]) -> None:
    (mistake,) = wrong_with(built["sidecar"], "1.27")
    assert "restartPolicy" in mistake


@pytest.mark.parametrize(
    ("kind", "path", "value", "told"),
    [
        pytest.param("Deployment", ("spec", "replica"), 1, "replica", id="a-field-that-is-not"),
        pytest.param("Deployment", ("spec", "replicas"), "one", "'one' is not of type", id="a-word-for-a-number"),
        pytest.param("PrometheusRule", ("spec", "groups", 0, "rules", 0, "fro"), "1m", "fro", id="not-the-operators"),
        pytest.param("ServiceMonitor", ("spec", "endpoints", 0, "interval"), "15", "interval", id="no-duration"),
        pytest.param("AlertmanagerConfig", ("spec", "route", "matcher"), [], "matcher", id="nor-its-alertmanagers"),
        pytest.param("PodMonitor", ("kind",), "PodsMonitor", "no such kind", id="no-kind-of-the-operator"),
        pytest.param("Service", ("kind",), "Servce", "find schema", id="no-kind-of-kubernetes"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(
    built: dict[str, list[Object]], kind: str, path: tuple[str | int, ...], value: object, told: str
) -> None:
    one = deepcopy(of_kind(built["prometheus-operator"], kind)[0])
    put(one, path, value)
    (mistake,) = wrong_with([one], "1.33")
    assert told in mistake


def test_by_way_of_alertmanager_everything_is_told_once(tree: Path, tmp_path: Path) -> None:
    own = tree / "operator-elsewhere"
    shutil.copytree(tree / "prometheus-operator", own)
    kustomization = own / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text().replace("namespace: vllm\n", "namespace: llm\n"))
    objects = kustomized(own)
    shutil.rmtree(own)
    (routed,) = of_kind(objects, "AlertmanagerConfig")
    (hook,) = routed["spec"]["receivers"][0]["webhookConfigs"]
    assert hook["url"] == "http://vllm-monitor.llm.svc:9109/alertmanager/oncall"
    (found,) = [one for one in of_kind(objects, "ConfigMap") if "monitor.yaml" in one["data"]]
    for name, text in found["data"].items():
        (tmp_path / name).write_text(text)
    config = load(tmp_path / "monitor.yaml")
    assert [one.slack_configs for one in config.receivers if one.name == config.route.receiver] == [()]
    assert [bool(one.slack_configs) for one in config.receivers if one.name == "oncall"] == [True]
    asked, (deployment,) = config.alerting.webhook.authorization, of_kind(objects, "Deployment")
    shown = hook["httpConfig"]["authorization"]["credentials"]
    (secret,) = [one["secret"]["secretName"] for one in pod_of(deployment)["volumes"] if "secret" in one]
    assert asked is not None
    assert (str(asked.credentials_file), secret) == (f"/run/secrets/vllm-monitor/{shown['key']}", shown["name"])


def test_kustomize_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [gone.yaml]\n")
    with pytest.raises(AssertionError, match="gone"):
        kustomized(tmp_path)


def test_the_daemon_may_look_at_pods_and_do_nothing_else(built: dict[str, list[Object]]) -> None:
    objects = built["stand-alone"]
    (role,) = of_kind(objects, "Role")
    assert role["rules"] == LOOKS_AT_PODS
    assert of_kind(objects, "ClusterRole") == []
    (policy,) = of_kind(objects, "NetworkPolicy")
    assert {"namespaceSelector": {}} not in policy["spec"]["egress"][-1]["to"]


def test_nothing_is_called_by_a_name_that_nobody_has(built: dict[str, list[Object]]) -> None:
    for overlay in ("stand-alone", "prometheus-operator"):
        assert loose_ends(built[overlay]) == []
    # The sidecars are found by what their pods and ports are called.
    monitors = {one["metadata"]["name"]: one["spec"] for one in of_kind(built["prometheus-operator"], "PodMonitor")}
    beside = monitors["vllm-monitor-sidecar"]
    (pod,) = [one["spec"]["template"] for one in of_kind(built["sidecar"], "Deployment")]
    assert beside["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    (endpoint,) = beside["podMetricsEndpoints"]
    assert endpoint["port"] == pod["spec"]["initContainers"][0]["ports"][0]["name"]
    assert endpoint["honorLabels"] is True


LOOSE = [
    pytest.param("Service", ("spec", "ports", 0, "targetPort"), "htp", "Service vllm-monitor: no such port", id="port"),
    pytest.param("Service", ("spec", "selector", "a"), "b", "Service vllm-monitor: no such port", id="selector"),
    pytest.param("Service", ("spec", "ports", 0, "name"), "web", "ServiceMonitor", id="port-of-a-service"),
    pytest.param("NetworkPolicy", ("spec", "ingress", 0, "ports", 0, "port"), "web", "NetworkPolicy", id="way-in"),
    pytest.param("NetworkPolicy", ("spec", "egress", 0, "ports", 0, "port"), 54, "gets out to 53/UDP", id="way-out"),
    pytest.param("PodDisruptionBudget", ("spec", "maxUnavailable"), 0, "drained", id="drain"),
    pytest.param("PodDisruptionBudget", ("spec", "selector", "matchLabels", "a"), "b", "selects nothing", id="budget"),
    pytest.param("ServiceMonitor", ("spec", "endpoints", 0, "honorLabels"), False, "lose job", id="honor-labels"),
    pytest.param("RoleBinding", ("subjects", 0, "name"), "other", "no ServiceAccount other", id="subject"),
    pytest.param("RoleBinding", ("roleRef", "name"), "other", "no Role other", id="role"),
    pytest.param("Deployment", (*POD, "serviceAccountName"), "other", "no ServiceAccount other", id="account"),
    pytest.param(
        "Deployment", (*POD, "volumes", 0, "configMap", "name"), "other", "no ConfigMap other", id="configuration"
    ),
    pytest.param("PersistentVolumeClaim", ("metadata", "name"), "other", "no PersistentVolumeClaim", id="claim"),
    pytest.param("Deployment", (*POD, "terminationGracePeriodSeconds"), 1, "is killed while", id="end"),
    pytest.param("Deployment", (*DAEMON, "livenessProbe", "httpGet", "path"), "/", "is not asked at /", id="probe"),
    pytest.param(
        "Deployment", (*DAEMON, "volumeMounts", 0, "mountPath"), "/etc/x", "has no /etc/vllm-monitor", id="file"
    ),
    pytest.param("Deployment", (*DAEMON, "volumeMounts", 1, "mountPath"), "/x", "has no /run/secrets", id="secrets"),
    pytest.param("Deployment", (*DAEMON, "volumeMounts", 2, "mountPath"), "/x", "has no /var/lib", id="state"),
    pytest.param("Deployment", (*DAEMON, "volumeMounts", 3, "mountPath"), "/x", "has no /tmp", id="tmp"),
    pytest.param("Deployment", (*DAEMON, "ports", 0, "containerPort"), 9108, "another port", id="address"),
]


@pytest.mark.parametrize(("kind", "path", "value", "told"), LOOSE)
def test_what_is_loose_is_found(
    built: dict[str, list[Object]], kind: str, path: tuple[str | int, ...], value: object, told: str
) -> None:
    objects = deepcopy(built["prometheus-operator"])
    put(of_kind(objects, kind)[0], path, value)
    assert any(told in one for one in loose_ends(objects)), loose_ends(objects)


def put(one: Any, path: tuple[str | int, ...], value: object) -> None:
    *folders, last = path
    for step in folders:
        one = one[step]
    one[last] = value


def containers(built: dict[str, list[Object]]) -> list[Any]:
    found = []
    for deployment in (one for objects in built.values() for one in of_kind(objects, "Deployment")):
        pod = pod_of(deployment)
        found += [
            each for each in (*pod["containers"], *pod.get("initContainers", ())) if each["name"] == "vllm-monitor"
        ]
    return found


def test_it_runs_with_nothing_to_spare(built: dict[str, list[Object]]) -> None:
    found = containers(built)
    assert len(found) == 4
    for container in found:
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert "cpu" not in container["resources"]["limits"]
        mounted = {mount["name"].removeprefix("vllm-monitor-"): mount for mount in container["volumeMounts"]}
        assert {name for name, mount in mounted.items() if not mount.get("readOnly")} == {"state", "tmp"}
        assert container["image"] == f"{IMAGE}:{__version__}"
    for one in of_kind(built["stand-alone"], "Deployment"):
        pod = pod_of(one)["securityContext"]
        assert (pod["runAsNonRoot"], pod["runAsUser"], pod["fsGroup"]) == (True, 65532, 65532)
        assert one["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize("overlay", ["sidecar", "production-stack"])
def test_a_sidecar_never_decides_whether_vllm_is_ready(built: dict[str, list[Object]], overlay: str) -> None:
    for one in of_kind(built[overlay], "Deployment"):
        beside = [each for each in pod_of(one).get("initContainers", ()) if each["name"] == "vllm-monitor"]
        for sidecar in beside:
            assert sidecar["restartPolicy"] == "Always"
            assert not {"readinessProbe", "startupProbe"} & sidecar.keys()


def test_the_plain_container_differs_from_the_sidecar_in_nothing_else() -> None:
    components = DEPLOY / "kubernetes" / "components"
    sidecar, plain = (
        pod_of(yaml.safe_load((components / name / "patch.yaml").read_text()))
        for name in ("sidecar", "sidecar-container")
    )
    (native,), (container,) = sidecar.pop("initContainers"), plain.pop("containers")
    assert native.pop("restartPolicy") == "Always"
    assert (native, sidecar) == (container, plain)


@pytest.mark.parametrize("overlay", ["sidecar", "production-stack"])
def test_vllm_starts_where_the_secret_of_its_sidecar_is_missing(built: dict[str, list[Object]], overlay: str) -> None:
    pods = [pod_of(one) for one in of_kind(built[overlay], "Deployment")]
    secrets = [volume["secret"] for pod in pods for volume in pod.get("volumes", ()) if "secret" in volume]
    assert [one["optional"] for one in secrets] == [True]


def test_a_pod_may_load_its_model_whoever_watches_it(built: dict[str, list[Object]]) -> None:
    """One daemon, a sidecar, a cluster's Prometheus; the chart is compared with the first elsewhere."""
    (alone,) = [one["data"]["values.yaml"] for one in of_kind(built["stand-alone"], "ConfigMap")]
    (pod,) = [pod_of(one) for one in of_kind(built["sidecar"], "Deployment")]
    setting = {each["name"]: each.get("value") for each in pod["initContainers"][-1]["env"]}["VLLM_MONITOR_SET"]
    for values in (yaml.safe_load(alone), yaml.safe_load((DEPLOY / "kubernetes" / "rules.values.yaml").read_text())):
        grace = values["alerts"]["VLLMTargetDown"]["loading_grace"]
        assert f"alerts.VLLMTargetDown.loading_grace={grace}" == setting


def test_a_sidecar_is_told_everything_by_variables_that_there_are() -> None:
    patch = yaml.safe_load((DEPLOY / "kubernetes" / "components" / "sidecar" / "patch.yaml").read_text())
    (sidecar,) = pod_of(patch)["initContainers"]
    given = {each["name"]: each.get("value", "8000") for each in sidecar["env"]}
    expanded = {
        name: value.replace("$(POD_IP)", "10.1.2.3").replace("$(VLLM_PORT)", "8000") for name, value in given.items()
    }
    config = from_flags(Flags(), expanded)
    (job,) = config.scrape_configs
    assert job.static_configs[0].targets == ("10.1.2.3:8000",)
    assert config.web.listen.port == sidecar["ports"][0]["containerPort"]
    (slack,) = config.receivers[0].slack_configs
    assert str(slack.api_url_file) == f"{sidecar['volumeMounts'][0]['mountPath']}/slack-webhook"


def test_in_the_production_stack_engines_have_it_and_the_router_has_not(built: dict[str, list[Object]]) -> None:
    objects = built["production-stack"]
    beside = {
        one["metadata"]["name"]: [each["name"] for each in pod_of(one).get("initContainers", ())]
        for one in of_kind(objects, "Deployment")
    }
    # Behind what the engine's pod has to do before: a sidecar runs on.
    assert beside == {"vllm-llama3-deployment-vllm": ["init", "vllm-monitor"], "vllm-deployment-router": []}
    (port,) = [one["data"]["port"] for one in of_kind(objects, "ConfigMap")]
    assert port == "8000"


def test_the_gate_may_hold_vllm_back(built: dict[str, list[Object]]) -> None:
    (deployment,) = of_kind(built["sidecar"], "Deployment")
    (vllm,), (sidecar,) = pod_of(deployment)["containers"], pod_of(deployment)["initContainers"]
    probe = vllm["startupProbe"]["httpGet"]
    assert probe["path"].startswith("/-/gate?min_concurrency=")
    assert probe["port"] == sidecar["ports"][0]["containerPort"]


def test_dashboards_are_found_by_grafanas_sidecar(built: dict[str, list[Object]]) -> None:
    objects = built["prometheus-operator"]
    maps = [one for one in of_kind(objects, "ConfigMap") if one["metadata"]["name"] != "vllm-monitor"]
    found = {name: one for one in maps for name in one["data"] if name.endswith(".json")}
    assert set(found) == {path.name for path in (ROOT / "dashboards").glob("*.json")}
    for one in found.values():
        assert one["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert one["metadata"]["annotations"] == {"grafana_folder": "vLLM"}
        assert len(yaml.safe_dump(one)) < LIMIT


def test_the_sidecar_of_llm_d_is_the_same_one() -> None:
    values = yaml.safe_load((OVERLAYS / "llm-d" / "values.yaml").read_text())
    patch = pod_of(yaml.safe_load((DEPLOY / "kubernetes/components/sidecar/patch.yaml").read_text()))
    for part in ("decode", "prefill"):
        (sidecar,) = values[part]["initContainers"]
        (theirs,) = patch["initContainers"]
        port = {"name": "VLLM_PORT", "value": {"decode": "8200", "prefill": "8000"}[part]}
        expected = [port if each["name"] == "VLLM_PORT" else each for each in theirs["env"]]
        image = f"{IMAGE}:{__version__}"
        assert sidecar == theirs | {"env": expected, "image": image}
        assert values[part]["volumes"] == patch["volumes"]
