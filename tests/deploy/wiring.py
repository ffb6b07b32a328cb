"""
What hangs together in a set of Kubernetes objects, and what of it does not.

No schema knows: a selector that selects nothing, a port, a claim or an account by a name that nobody has, is good YAML.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import yaml

from tests.deploy.objects import Object, of_kind, pod_of

# What the kubelet may ask without a password, and what does not ask Slack or vLLM in turn.
PROBED = {"/-/healthy", "/-/ready"}
# Within five seconds what waits is told; the rest is for what is written then.
SHORTEST_END = 10
# For TLS, and for graphs; the root is not written to.
TEMPORARY = PurePath("/tmp")  # noqa: S108 - the container's own
Check = Callable[[list[Object], set[str]], Iterator[str]]
REACHED = {("UDP", 53), ("TCP", 53), ("TCP", 443), ("TCP", 6443)}


def loose_ends(objects: Iterable[Object], given: Iterable[str] = ()) -> list[str]:
    """Return what is loose; `given` are claims and accounts that somebody else has made."""
    every = list(objects)
    checks: Iterable[Check] = (_selected, _scraped, _bound, _drained, _reached, _run)
    return [found for check in checks for found in check(every, set(given))]


def _named(one: Mapping[str, Any]) -> str:
    return f"{one['kind']} {one['metadata']['name']}"


def _chosen(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    wanted: Mapping[str, str] = selector.get("matchLabels", {})
    return all(labels.get(key) == value for key, value in wanted.items())


def _templates(objects: list[Object], selector: Mapping[str, Any]) -> list[Any]:
    """Return the pods that a selector selects."""
    templates = [one["spec"]["template"] for one in of_kind(objects, "Deployment")]
    return [each["spec"] for each in templates if _chosen(selector, each["metadata"]["labels"])]


def _ports(pods: Iterable[Any]) -> set[str]:
    return {port["name"] for pod in pods for container in _containers(pod) for port in container.get("ports", ())}


def _containers(pod: Any) -> list[Any]:
    return [*pod["containers"], *pod.get("initContainers", ())]


def _selected(objects: list[Object], _given: set[str]) -> Iterator[str]:
    """Selectors select, and the ports that are named are those of what is selected."""
    services = [(one, {"matchLabels": one["spec"]["selector"]}) for one in of_kind(objects, "Service")]
    policies = [(one, one["spec"]["podSelector"]) for one in of_kind(objects, "NetworkPolicy")]
    for one, selector in services + policies:
        if _ports_that(one) - _ports(_templates(objects, selector)):
            yield f"{_named(one)}: no such port in the pods that it selects"
    for budget in of_kind(objects, "PodDisruptionBudget"):
        if not _templates(objects, budget["spec"]["selector"]):
            yield f"{_named(budget)}: selects nothing"


def _ports_that(one: Object) -> set[str]:
    """Return the ports of pods that a Service or a NetworkPolicy names."""
    if one["kind"] == "Service":
        return {port["targetPort"] for port in one["spec"]["ports"]}
    return {port["port"] for each in one["spec"]["ingress"] for port in each["ports"]}


def _scraped(objects: list[Object], _given: set[str]) -> Iterator[str]:
    """A ServiceMonitor finds a port, and leaves the series whose they are."""
    for monitor in of_kind(objects, "ServiceMonitor"):
        services = [one for one in of_kind(objects, "Service") if _chosen(monitor["spec"]["selector"], _labels(one))]
        ports = {port["name"] for one in services for port in one["spec"]["ports"]}
        for endpoint in monitor["spec"]["endpoints"]:
            if endpoint["port"] not in ports:
                yield f"{_named(monitor)}: no such port in the services that it selects"
            if not endpoint.get("honorLabels"):
                yield f"{_named(monitor)}: the series lose job and instance of the server they are about"


def _labels(one: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = one["metadata"].get("labels", {})
    return found


def _bound(objects: list[Object], given: set[str]) -> Iterator[str]:
    """Accounts, roles, claims and ConfigMaps are there under the names that others have for them."""
    there = {(one["kind"], one["metadata"]["name"]) for one in objects}
    for one in (*of_kind(objects, "RoleBinding"), *of_kind(objects, "ClusterRoleBinding")):
        wanted = [(one["roleRef"]["kind"], one["roleRef"]["name"])]
        wanted += [(each["kind"], each["name"]) for each in one["subjects"]]
        yield from _missing(one, wanted, there, given)
    for one in of_kind(objects, "Deployment"):
        pod = pod_of(one)
        wanted = [("ConfigMap", each["configMap"]["name"]) for each in pod.get("volumes", ()) if "configMap" in each]
        wanted += [
            ("PersistentVolumeClaim", each["persistentVolumeClaim"]["claimName"])
            for each in pod.get("volumes", ())
            if "persistentVolumeClaim" in each
        ]
        wanted += [("ServiceAccount", pod["serviceAccountName"])] if "serviceAccountName" in pod else []
        yield from _missing(one, wanted, there, given)


def _missing(
    one: Object, wanted: Iterable[tuple[str, str]], there: set[tuple[str, str]], given: set[str]
) -> Iterator[str]:
    for kind, name in wanted:
        if (kind, name) not in there and name not in given:
            yield f"{_named(one)}: no {kind} {name}"


def _drained(objects: list[Object], _given: set[str]) -> Iterator[str]:
    """A node can be drained of a daemon that is one."""
    for budget in of_kind(objects, "PodDisruptionBudget"):
        if budget["spec"].get("maxUnavailable") != 1:
            yield f"{_named(budget)}: no node with it can be drained"


def _reached(objects: list[Object], _given: set[str]) -> Iterator[str]:
    """The daemon reaches names, the API server and Slack."""
    for policy in of_kind(objects, "NetworkPolicy"):
        open_ = {
            (port["protocol"], port["port"]) for each in policy["spec"]["egress"] for port in each.get("ports", ())
        }
        yield from (f"{_named(policy)}: nothing gets out to {port}/{name}" for name, port in sorted(REACHED - open_))


def _run(objects: list[Object], _given: set[str]) -> Iterator[str]:
    """The daemon finds its files where they are mounted, writes where it may, and has time to end."""
    for one in of_kind(objects, "Deployment"):
        pod = pod_of(one)
        for container in pod["containers"]:
            if container["name"] == "vllm-monitor" and "--config" in container["args"]:
                yield from (f"{_named(one)}: {what}" for what in _daemon(objects, pod, container))


def _daemon(objects: list[Object], pod: Any, container: Any) -> Iterator[str]:
    if pod["terminationGracePeriodSeconds"] < SHORTEST_END:
        yield "is killed while it tells what waits"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe in (container["livenessProbe"]["httpGet"], container["readinessProbe"]["httpGet"]):
        if probe["path"] not in PROBED or probe["port"] not in ports:
            yield f"is not asked at {probe['path']} of {probe['port']}"
    mounts = {mount["name"]: PurePath(mount["mountPath"]) for mount in container["volumeMounts"]}
    file = PurePath(container["args"][container["args"].index("--config") + 1])
    folders = {each["configMap"]["name"] for each in pod["volumes"] if mounts.get(each["name"]) == file.parent}
    texts = [one["data"][file.name] for one in of_kind(objects, "ConfigMap") if one["metadata"]["name"] in folders]
    if not texts:
        yield f"has no {file}"
    for config in map(yaml.safe_load, texts):
        files = [value for key, value in _leaves(config) if key.endswith("_file") and PurePath(value).is_absolute()]
        wanted = {PurePath(each).parent for each in files} | {PurePath(config["storage"]["path"]), TEMPORARY}
        yield from (f"has no {folder}" for folder in sorted(wanted - {*mounts.values()}))
        if int(config["web"]["listen"].rpartition(":")[2]) not in ports.values():
            yield f"listens on another port than {ports}"


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, key)
    else:
        yield key, value
