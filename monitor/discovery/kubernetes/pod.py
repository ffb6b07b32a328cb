"""Pods: a target for each port of each container, and one for a container without ports."""

from collections.abc import Iterator
from typing import NamedTuple

from monitor.discovery.dns import join_host_port
from monitor.discovery.groups import ADDRESS
from monitor.discovery.kubernetes.meta import (
    NAMESPACE,
    PREFIX,
    Json,
    key_of,
    object_labels,
    table,
    tables,
    text,
    trimmed_meta,
)
from monitor.model.labels import Labels
from monitor.model.targetgroup import TargetGroup

_POD = PREFIX + "pod_"
_CONTAINER = _POD + "container_"
_STATUS = ("podIP", "hostIP", "phase")


class Container(NamedTuple):
    """One container of a pod, with what its status has; `init` as text."""

    spec: Json
    id: str
    init: str


def trimmed(pod: Json) -> Json:
    """Return what is read of a pod: most of it is not."""
    meta, spec, status = table(pod, "metadata"), table(pod, "spec"), table(pod, "status")
    owners = [owner for owner in tables(meta, "ownerReferences") if owner.get("controller") is True]
    ready = [one for one in tables(status, "conditions") if one.get("type") == "Ready"]
    return {
        "metadata": trimmed_meta(pod) | {"ownerReferences": owners[:1]},
        "spec": {
            "nodeName": text(spec, "nodeName"),
            **{kind: [_named(one, "image", "ports") for one in tables(spec, kind)] for kind in _KINDS},
        },
        "status": {
            **{key: text(status, key) for key in _STATUS},
            "conditions": [{"type": "Ready", "status": text(one, "status")} for one in ready[:1]],
            **{kind: [_named(one, "containerID") for one in tables(status, kind)] for kind in _KINDS.values()},
        },
    }


_KINDS = {"containers": "containerStatuses", "initContainers": "initContainerStatuses"}


def _named(one: Json, *keys: str) -> Json:
    return {key: one[key] for key in ("name", *keys) if key in one}


def pod_labels(pod: Json) -> dict[str, str]:
    meta, status = table(pod, "metadata"), table(pod, "status")
    ready = next((text(one, "status") for one in tables(status, "conditions") if one.get("type") == "Ready"), "unknown")
    owner = next((one for one in tables(meta, "ownerReferences") if one.get("controller") is True), {})
    return object_labels("pod", meta) | {
        _POD + "ip": text(status, "podIP"),
        _POD + "ready": ready.lower(),
        _POD + "phase": text(status, "phase"),
        _POD + "node_name": text(table(pod, "spec"), "nodeName"),
        _POD + "host_ip": text(status, "hostIP"),
        _POD + "uid": text(meta, "uid"),
        _POD + "controller_kind": text(owner, "kind"),
        _POD + "controller_name": text(owner, "name"),
    }


def pod_group(pod: Json, node: dict[str, str]) -> TargetGroup:
    """Return the targets of a pod, which has none as long as it has no address; `node` are the labels of its node."""
    source = f"pod/{key_of(pod)}"
    address = pod_ip(pod)
    if not address:
        return TargetGroup(source)
    shared = pod_labels(pod) | {NAMESPACE: text(table(pod, "metadata"), "namespace")} | node
    return TargetGroup(source, tuple(_targets(pod, address)), Labels.of(shared))


def pod_ip(pod: Json) -> str:
    return text(table(pod, "status"), "podIP")


def containers(pod: Json) -> Iterator[Container]:
    """Yield the containers, and behind them those that initialise."""
    spec, status = table(pod, "spec"), table(pod, "status")
    for kind, statuses in _KINDS.items():
        ids = {text(one, "name"): text(one, "containerID") for one in tables(status, statuses)}
        for container in tables(spec, kind):
            is_init = "true" if kind == "initContainers" else "false"
            yield Container(container, ids.get(text(container, "name"), ""), is_init)


def container_labels(container: Container) -> dict[str, str]:
    return {
        _CONTAINER + "name": text(container.spec, "name"),
        _CONTAINER + "image": text(container.spec, "image"),
        _CONTAINER + "init": container.init,
    }


def port_labels(port: Json, protocol: str = "") -> dict[str, str]:
    """Return the labels of a container's port; `protocol` goes before its own."""
    return {
        _CONTAINER + "port_name": text(port, "name"),
        _CONTAINER + "port_number": text(port, "containerPort"),
        _CONTAINER + "port_protocol": protocol or text(port, "protocol"),
    }


def _targets(pod: Json, address: str) -> Iterator[Labels]:
    for container in containers(pod):
        shared = container_labels(container) | {_CONTAINER + "id": container.id}
        ports = list(tables(container.spec, "ports"))
        if not ports:
            # Whoever wants it scraped gives it a port by relabelling.
            yield Labels.of({ADDRESS: address, **shared})
        for port in ports:
            yield Labels.of(
                {ADDRESS: join_host_port(address, text(port, "containerPort")), **shared, **port_labels(port)}
            )
