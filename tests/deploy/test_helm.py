"""The chart: rendered by the real Helm over a matrix of values, and each rendering is good for Kubernetes."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor import __version__
from monitor.config.read import load
from tests.deploy.objects import Object, of_kind, pod_of, read, wrong_with
from tests.deploy.published import IMAGE
from tests.deploy.tools import DEPLOY, ROOT, answered
from tests.deploy.wiring import loose_ends

CHART = DEPLOY / "helm" / "vllm-monitor"
LIMIT = 1 << 20
OPERATOR = {
    "serviceMonitor": {"enabled": True, "labels": {"release": "kube-prometheus-stack"}},
    "podMonitor": {"enabled": True, "port": "metrics", "matchLabels": {"llm-d.ai/inference-serving": "true"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "kube-prometheus-stack"}},
    "alertmanagerConfig": {"enabled": True},
    "dashboards": {"enabled": True},
}
MATRIX: Mapping[str, Mapping[str, Any]] = {
    "as-it-ships": {},
    "targets": {"targets": ["10.0.0.11:8000"], "discovery": {"enabled": False}, "slack": {"kind": "none"}},
    "targets-and-pods": {"targets": ["10.0.0.11:8000"]},
    "nothing-to-watch": {"discovery": {"enabled": False}},
    "bot": {"slack": {"kind": "bot", "channel": "C0123456789", "secretKey": "token"}},
    "namespaces": {"discovery": {"namespaces": ["a", "b"], "labels": ["team/llm=yes"], "portNames": "openai"}},
    "cluster": {"discovery": {"clusterWide": True}} | OPERATOR,
    "operator": OPERATOR,
    "no-state": {"persistence": {"enabled": False}, "podDisruptionBudget": {"enabled": False}},
    "given-state": {"persistence": {"existingClaim": "mine"}, "networkPolicy": {"enabled": False}},
    "own-account": {"serviceAccount": {"create": False, "name": "given"}, "rbac": {"create": False}},
    "with-tls": OPERATOR | {"service": {"scheme": "HTTPS"}},
    "own-configuration": {"config": {"scrape_configs": []}, "ruleValues": {"alerts": {}}},
    "everything-else": {
        "fullnameOverride": "watch",
        "image": {"repository": "registry.internal/vllm-monitor", "tag": "main", "pullSecrets": ["registry"]},
        "service": {"port": 80, "annotations": {"a": "b"}},
        "persistence": {"storageClass": "fast", "size": "10Gi"},
        "networkPolicy": {"ingressNamespaces": [], "egressPorts": [3128]},
        "resources": {"limits": {"memory": "1Gi"}},
        "podAnnotations": {"a": "b"},
        "podLabels": {"a": "b"},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "system-cluster-critical",
        "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
        "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
        "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca"}],
        "extraObjects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more"}}],
    },
    # Names that YAML takes for something else, quotes, and dots in a regular expression.
    "odd": {
        "nameOverride": "0x10",
        "slack": {"kind": "bot", "channel": "C\"1'\n- x", "secretName": "123", "secretKey": "on"},
        "image": {"tag": "1.10", "pullSecrets": ["123"]},
        "discovery": {"namespaces": ["123", "on"], "labels": ["team/llm=v1.0"], "portNames": "it's|a:b #c"},
        "persistence": {"existingClaim": "123", "storageClass": "1"},
        "serviceAccount": {"name": "123", "annotations": {"a": "1", "b": "on"}},
        "networkPolicy": {"ingressNamespaces": ["123", "on"]},
        "priorityClassName": "123",
        "podLabels": {"a": "1"},
        "nodeSelector": {"gpu": "true"},
        "podMonitor": {"enabled": True, "port": "123", "matchLabels": {"a": "1"}},
        "alertmanagerConfig": {"enabled": True, "tokenKey": "123"},
    },
    "long-name": OPERATOR,
    "name-with-a-dot": {},
    "without-a-token": {"alertmanagerConfig": {"enabled": True, "tokenKey": ""}, "slack": {"kind": "none"}},
}
# Of the release; others are called vllm-monitor.
# A claim, an account and a CA that somebody else has made.
GIVEN = ("mine", "123", "given", "ca")
NAMES = {"long-name": "l" * 53, "name-with-a-dot": "team.a", "no-name-of-a-service": "123"}
REFUSED = [
    pytest.param({"discovry": {}}, "discovry", id="misspelt"),
    pytest.param({"slack": {"webhook": "https://hooks.slack.com/x"}}, "webhook", id="no-secret-in-values"),
    pytest.param({"slack": {"kind": "bot"}}, "channel", id="a-bot-without-a-channel"),
    pytest.param({"service": {"port": "9109"}}, "port", id="a-text-for-a-number"),
    pytest.param({"scrapeInterval": "5"}, "scrapeInterval", id="no-duration"),
    pytest.param({"targets": ["http://10.0.0.11:8000"]}, "targets", id="a-url-for-a-target"),
    pytest.param({"persistence": {"accessModes": ["ReadOnlyMany"]}}, "accessModes", id="state-that-cannot-be-written"),
    pytest.param({"image": {"repository": 'a"b'}}, "repository", id="no-name-of-an-image"),
    pytest.param({"image": {"tag": 1.1}}, "tag", id="a-number-for-a-text"),
    pytest.param({"fullnameOverride": "Watch_1"}, "fullnameOverride", id="no-name-of-an-object"),
    # Every pod without the label would have this one.
    pytest.param({"discovery": {"labels": ["app="]}}, "labels", id="a-label-without-a-value"),
    pytest.param({"podLabels": {"app.kubernetes.io/name": "x"}}, "podLabels", id="a-label-that-is-selected-by"),
    pytest.param({}, "set fullnameOverride", id="no-name-of-a-service"),
]  # fmt: skip


@cache
def rendered() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return what Helm says of the chart, and what it makes of each case of the matrix."""
    values = {**MATRIX, **{str(each.id): each.values[0] for each in REFUSED}}
    cases = [{"values": each, "name": NAMES.get(case, "vllm-monitor")} for case, each in values.items()]
    answer = answered("helm_render.py", {"chart": str(CHART), "cases": cases})
    return answer["lint"], dict(zip(values, answer["cases"], strict=True))


@cache
def objects(case: str) -> list[Object]:
    files: Mapping[str, str] = rendered()[1][case]["files"]
    return [one for name, text in files.items() if not name.endswith("NOTES.txt") for one in read(text)]


def config_of(case: str) -> Any:
    (found,) = [one for one in of_kind(objects(case), "ConfigMap") if "monitor.yaml" in one.get("data", ())]
    return yaml.safe_load(found["data"]["monitor.yaml"])


def test_helm_has_nothing_to_say_but_of_the_icon() -> None:
    lint, _ = rendered()
    assert [message["error"] for message in lint["messages"]] == ["icon is recommended"]


def test_helm_says_what_is_wrong_with_a_chart(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: broken\nversion: 1\n")
    (tmp_path / "templates" / "a.yaml").write_text("kind: {{ .Values.missing.key }}\n")
    answer = answered("helm_render.py", {"chart": str(tmp_path), "cases": [{"values": {}}]})
    assert any("templates/" in message["path"] for message in answer["lint"]["messages"])
    assert "missing" in answer["cases"][0]["error"]


def test_every_rendering_is_good_for_each_version_of_kubernetes() -> None:
    every = [one for case in MATRIX for one in objects(case)]
    different = list({yaml.safe_dump(one): one for one in every}.values())
    assert wrong_with(different) == []


@pytest.mark.parametrize(("values", "told"), REFUSED)
def test_values_that_cannot_be_meant_are_refused_by_name(
    values: Mapping[str, Any], told: str, request: pytest.FixtureRequest
) -> None:
    assert values or request.node.callspec.id in NAMES
    assert told in rendered()[1][request.node.callspec.id]["error"]


@pytest.mark.parametrize("case", [case for case in MATRIX if case != "own-configuration"])
def test_nothing_is_called_by_a_name_that_nobody_has(case: str) -> None:
    assert loose_ends(objects(case), GIVEN) == []


def test_it_reaches_pods_where_it_looks_and_no_others() -> None:
    def reached(case: str) -> list[str]:
        (policy,) = of_kind(objects(case), "NetworkPolicy")
        selectors = [
            each["namespaceSelector"] for each in policy["spec"]["egress"][-1]["to"] if "podSelector" not in each
        ]
        return [each.get("matchLabels", {}).get("kubernetes.io/metadata.name", "any") for each in selectors]

    assert reached("as-it-ships") == ["monitoring"]
    assert reached("namespaces") == ["a", "b", "monitoring"]
    assert reached("cluster") == ["any"]


@pytest.mark.parametrize("case", MATRIX)
def test_names_are_no_longer_than_kubernetes_takes_and_stand_once(case: str) -> None:
    names = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects(case)]
    assert len(names) == len(set(names))
    assert all(len(name) <= 63 for _, _, name in names)


def test_the_defaults_are_what_the_kustomization_has() -> None:
    assert config_of("as-it-ships") == yaml.safe_load((DEPLOY / "kubernetes" / "base" / "monitor.yaml").read_text())
    given = yaml.safe_load((CHART / "values.yaml").read_text())["ruleValues"]
    assert given == yaml.safe_load((DEPLOY / "kubernetes" / "base" / "values.yaml").read_text())
    (theirs,) = of_kind(read((DEPLOY / "kubernetes" / "base" / "deployment.yaml").read_text()), "Deployment")
    (ours,) = of_kind(objects("as-it-ships"), "Deployment")
    (container,), (other,) = pod_of(ours)["containers"], pod_of(theirs)["containers"]
    assert container.pop("image") == f"{IMAGE}:{__version__}"
    assert container.pop("imagePullPolicy") == "IfNotPresent"
    other.pop("image")
    assert container == other
    assert pod_of(ours)["securityContext"] == pod_of(theirs)["securityContext"]
    assert ours["spec"]["strategy"] == theirs["spec"]["strategy"]


def test_discovery_takes_labels_and_ports_from_the_values() -> None:
    (job,) = config_of("namespaces")["scrape_configs"]
    assert job["kubernetes_sd_configs"] == [{"role": "pod", "namespaces": {"names": ["a", "b"]}}]
    keep = job["relabel_configs"][0]
    assert keep["source_labels"][0] == "__meta_kubernetes_pod_label_team_llm"
    assert keep["regex"] == "yes;.*|.*;true"
    assert ";(openai)" in job["relabel_configs"][3]["regex"]


def test_with_tls_everybody_asks_so() -> None:
    (deployment,) = of_kind(objects("with-tls"), "Deployment")
    (container,) = pod_of(deployment)["containers"]
    probes = [container[name]["httpGet"]["scheme"] for name in ("livenessProbe", "readinessProbe")]
    (monitor,) = of_kind(objects("with-tls"), "ServiceMonitor")
    (routed,) = of_kind(objects("with-tls"), "AlertmanagerConfig")
    url = routed["spec"]["receivers"][0]["webhookConfigs"][0]["url"]
    assert (*probes, monitor["spec"]["endpoints"][0]["scheme"]) == ("HTTPS", "HTTPS", "https")
    assert url == "https://vllm-monitor.vllm.svc:9109/alertmanager/oncall"


@pytest.mark.parametrize(("case", "asked"), [("operator", True), ("without-a-token", False)])
def test_by_way_of_alertmanager_everything_is_told_once(case: str, *, asked: bool) -> None:
    config = config_of(case)
    assert config["route"] == {"receiver": "nobody"}
    assert config["receivers"][0] == {"name": "nobody"}
    (routed,) = of_kind(objects(case), "AlertmanagerConfig")
    (hook,) = routed["spec"]["receivers"][0]["webhookConfigs"]
    assert hook["url"].endswith(f"/alertmanager/{config['receivers'][1]['name']}")
    # Who posts shows what the daemon reads.
    secrets = [each["secret"]["secretName"] for each in volumes(case) if "secret" in each]
    assert ("alerting" in config, "httpConfig" in hook, bool(secrets)) == (asked, asked, asked)
    if asked:
        credentials = hook["httpConfig"]["authorization"]["credentials"]
        file = config["alerting"]["webhook"]["authorization"]["credentials_file"]
        assert file == f"/run/secrets/vllm-monitor/{credentials['key']}"
        assert [credentials["name"]] == secrets


def volumes(case: str) -> list[Any]:
    (deployment,) = of_kind(objects(case), "Deployment")
    found: list[Any] = pod_of(deployment)["volumes"]
    return found


def test_values_stand_in_the_configuration_as_they_were_given() -> None:
    config = config_of("odd")
    assert config["receivers"][1]["slack_configs"][0]["channel"] == MATRIX["odd"]["slack"]["channel"]
    (job,) = config["scrape_configs"]
    assert job["relabel_configs"][0]["regex"] == r"v1\.0;.*|.*;true"
    assert job["relabel_configs"][3]["regex"] == r"\d+;.*|;(it's|a:b #c)"


def test_targets_and_pods_are_one_job_to_the_rules() -> None:
    named, pods = config_of("targets-and-pods")["scrape_configs"]
    assert named["job_name"] == "vllm"
    assert pods["relabel_configs"][-1] == {"target_label": "job", "replacement": "vllm"}


@pytest.mark.parametrize("case", MATRIX)
def test_the_daemon_reads_its_configuration_in_every_case(case: str, tmp_path: Path) -> None:
    (found,) = [one for one in of_kind(objects(case), "ConfigMap") if "monitor.yaml" in one.get("data", ())]
    for name, text in found["data"].items():
        (tmp_path / name).write_text(text.replace("/etc/vllm-monitor/", f"{tmp_path}/"))
    config = load(tmp_path / "monitor.yaml")
    if case != "own-configuration":
        assert (str(config.web.listen), str(config.storage.path)) == ("0.0.0.0:9109", "/var/lib/vllm-monitor/data")


def test_each_namespace_has_a_role_and_the_cluster_has_one() -> None:
    assert [one["metadata"]["namespace"] for one in of_kind(objects("namespaces"), "Role")] == ["a", "b"]
    # Releases of one name in two namespaces look into the same ones.
    names = {one["metadata"]["name"] for one in of_kind(objects("namespaces"), "Role")}
    assert names == {"vllm-monitor-vllm"}
    assert of_kind(objects("cluster"), "Role") == []
    roles = [*of_kind(objects("namespaces"), "Role"), *of_kind(objects("cluster"), "ClusterRole")]
    assert len(roles) == 3
    for role in roles:
        assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    assert not {one["kind"] for one in objects("targets")} & {"Role", "RoleBinding", "ClusterRole"}
    (pod,) = map(pod_of, of_kind(objects("targets"), "Deployment"))
    assert pod["automountServiceAccountToken"] is False


def test_rules_and_dashboards_are_the_shipped_ones() -> None:
    rules = of_kind(objects("operator"), "PrometheusRule")
    source = read((DEPLOY / "kubernetes" / "components" / "operator" / "prometheusrules.yaml").read_text())
    assert [one["spec"] for one in rules] == [one["spec"] for one in source]
    boards = {
        name: text
        for one in of_kind(objects("operator"), "ConfigMap")
        for name, text in one["data"].items()
        if name.endswith(".json")
    }
    assert {name: yaml.safe_load(text) for name, text in boards.items()} == {
        path.name: yaml.safe_load(path.read_text()) for path in (ROOT / "dashboards").glob("*.json")
    }
    assert all(len(text) < LIMIT for text in boards.values())


def test_nothing_asks_what_the_cluster_can() -> None:
    assert [path for path in (CHART / "templates").iterdir() if "Capabilities" in path.read_text()] == []


def test_the_chart_has_the_version_of_the_program() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
