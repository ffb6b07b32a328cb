"""
Endpoints and endpoint slices: a target for each address and port, with what is known of pod and service behind it.

A pod that is behind one of the ports is a target at its other ports, too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from monitor.discovery.dns import join_host_port
from monitor.discovery.groups import ADDRESS
from monitor.discovery.kubernetes.meta import (
    NAMESPACE,
    PREFIX,
    Json,
    key_of,
    object_labels,
    sanitized,
    table,
    tables,
    text,
    texts,
    trimmed_meta,
)
from monitor.discovery.kubernetes.pod import container_labels, containers, pod_ip, pod_labels, port_labels
from monitor.discovery.kubernetes.service import service_labels
from monitor.model.labels import Labels
from monitor.model.targetgroup import TargetGroup

_ENDPOINT, _SLICE = PREFIX + "endpoint_", PREFIX + "endpointslice_"
SERVICE_NAME = "kubernetes.io/service-name"

# Returns the object of a kind ("pod", "service", "node") and a key, None when there is none.
Find = Callable[[str, str], Json | None]
# Returns the labels of the node of a name.
NodeLabels = Callable[[str], Mapping[str, str]]


@dataclass
class _Seen:
    """The pods that were met, each with the ports of it that were."""

    find: Find
    pods: dict[str, Json] = field(default_factory=dict)
    ports: dict[str, set[str]] = field(default_factory=dict)

    def pod(self, reference: Json, port: str) -> Json | None:
        """Return the pod that an address refers to, None when it refers to none."""
        if reference.get("kind") != "Pod":
            return None
        key = f"{text(reference, 'namespace')}/{text(reference, 'name')}"
        pod = self.find("pod", key)
        if pod is not None:
            self.pods[key] = pod
            self.ports.setdefault(key, set()).add(port)
        return pod

    def others(self) -> Iterator[Labels]:
        """Yield the targets at those ports of the pods that were not met."""
        for key, pod in self.pods.items():
            address = pod_ip(pod)
            for container in containers(pod) if address else ():
                for port in tables(container.spec, "ports"):
                    number = text(port, "containerPort")
                    if number not in self.ports[key]:
                        own = {ADDRESS: join_host_port(address, number), **container_labels(container)}
                        yield Labels.of(own | port_labels(port) | pod_labels(pod))


def endpoints_group(endpoints: Json, find: Find, node: NodeLabels) -> TargetGroup:
    meta, key = table(endpoints, "metadata"), key_of(endpoints)
    shared = {NAMESPACE: text(meta, "namespace")} | _service(find("service", key)) | object_labels("endpoints", meta)
    seen = _Seen(find)
    targets = [
        _endpoint(address, port, ready, seen, node)
        for subset in tables(endpoints, "subsets")
        for port in tables(subset, "ports")
        for kind, ready in (("addresses", "true"), ("notReadyAddresses", "false"))
        for address in tables(subset, kind)
    ]
    return TargetGroup(f"endpoints/{key}", (*targets, *seen.others()), Labels.of(shared))


def endpointslice_group(found: Json, find: Find, node: NodeLabels) -> TargetGroup:
    meta, key = table(found, "metadata"), key_of(found)
    namespace = text(meta, "namespace")
    name = text(table(meta, "labels"), SERVICE_NAME)
    shared = {NAMESPACE: namespace, _SLICE + "address_type": text(found, "addressType")}
    shared |= object_labels("endpointslice", meta)
    shared |= _service(find("service", f"{namespace}/{name}") if name else None)
    seen = _Seen(find)
    targets = [
        _slice_endpoint(address, endpoint, port, seen, node)
        for endpoint in tables(found, "endpoints")
        for port in tables(found, "ports")
        for address in texts(endpoint, "addresses")
    ]
    return TargetGroup(f"endpointslice/{key}", (*targets, *seen.others()), Labels.of(shared))


def trimmed(found: Json) -> Json:
    """Return what is read of endpoints or of an endpoint slice."""
    keys = ("subsets", "addressType", "endpoints", "ports")
    return {"metadata": trimmed_meta(found), **{key: found[key] for key in keys if key in found}}


def _service(service: Json | None) -> dict[str, str]:
    return service_labels(service) if service is not None else {}


def _endpoint(address: Json, port: Json, ready: str, seen: _Seen, node: NodeLabels) -> Labels:
    number, reference = text(port, "port"), table(address, "targetRef")
    labels = {
        ADDRESS: join_host_port(text(address, "ip"), number),
        _ENDPOINT + "port_name": text(port, "name"),
        _ENDPOINT + "port_protocol": text(port, "protocol"),
        _ENDPOINT + "ready": ready,
        _ENDPOINT + "address_target_kind": text(reference, "kind"),
        _ENDPOINT + "address_target_name": text(reference, "name"),
        _ENDPOINT + "node_name": text(address, "nodeName"),
        _ENDPOINT + "hostname": text(address, "hostname"),
    }
    labels |= _of_node(reference, text(address, "nodeName"), node)
    return _with_pod(labels, seen.pod(reference, number), number, text(port, "protocol"))


def _slice_endpoint(address: str, endpoint: Json, port: Json, seen: _Seen, node: NodeLabels) -> Labels:
    number, reference = text(port, "port"), table(endpoint, "targetRef")
    conditions = table(endpoint, "conditions")
    labels = {
        ADDRESS: join_host_port(address, number) if number else address,
        _SLICE + "port_name": text(port, "name"),
        _SLICE + "port_protocol": text(port, "protocol"),
        _SLICE + "port": number,
        _SLICE + "port_app_protocol": text(port, "appProtocol"),
        **{f"{_SLICE}endpoint_conditions_{name}": text(conditions, name) for name in _CONDITIONS},
        _SLICE + "endpoint_hostname": text(endpoint, "hostname"),
        _SLICE + "address_target_kind": text(reference, "kind"),
        _SLICE + "address_target_name": text(reference, "name"),
        _SLICE + "endpoint_node_name": text(endpoint, "nodeName"),
        _SLICE + "endpoint_zone": text(endpoint, "zone"),
    }
    for name, value in table(endpoint, "deprecatedTopology").items():
        labels[f"{_SLICE}endpoint_topology_{sanitized(name)}"] = str(value)
        labels[f"{_SLICE}endpoint_topology_present_{sanitized(name)}"] = "true"
    labels |= _of_node(reference, text(endpoint, "nodeName"), node)
    return _with_pod(labels, seen.pod(reference, number), number, "")


_CONDITIONS = ("ready", "serving", "terminating")


def _of_node(reference: Json, name: str, node: NodeLabels) -> Mapping[str, str]:
    return node(text(reference, "name") if reference.get("kind") == "Node" else name)


def _with_pod(labels: dict[str, str], pod: Json | None, number: str, protocol: str) -> Labels:
    """Add what the pod is, and its container with this port; `protocol` is that of the endpoint's port."""
    if pod is None:
        return Labels.of(labels)
    labels |= pod_labels(pod)
    for container in containers(pod):
        for port in tables(container.spec, "ports"):
            if text(port, "containerPort") == number:
                labels |= container_labels(container) | port_labels(port, protocol)
                break
    return Labels.of(labels)
