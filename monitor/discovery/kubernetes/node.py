"""Nodes: a target for each, at the address and port of its kubelet."""

from monitor.discovery.dns import join_host_port
from monitor.discovery.groups import ADDRESS
from monitor.discovery.kubernetes.meta import (
    PREFIX,
    Json,
    key_of,
    object_labels,
    sanitized,
    table,
    tables,
    text,
    trimmed_meta,
)
from monitor.model.labels import INSTANCE, Labels
from monitor.model.targetgroup import TargetGroup

# The first of these that a node has.
_ADDRESSES = ("InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS", "LegacyHostIP", "Hostname")


def node_labels(node: Json) -> dict[str, str]:
    return object_labels("node", table(node, "metadata"))


def trimmed(node: Json) -> Json:
    """Return what is read of a node: its status holds every image that it has."""
    spec, status = table(node, "spec"), table(node, "status")
    return {
        "metadata": trimmed_meta(node),
        "spec": {"providerID": text(spec, "providerID")},
        "status": {key: status[key] for key in ("addresses", "daemonEndpoints") if key in status},
    }


def node_group(node: Json) -> TargetGroup:
    """Return the target of a node; one without an address has none."""
    source = f"node/{key_of(node)}"
    status = table(node, "status")
    addresses: dict[str, str] = {}
    for one in tables(status, "addresses"):
        addresses.setdefault(text(one, "type"), text(one, "address"))
    address = next((addresses[kind] for kind in _ADDRESSES if kind in addresses), "")
    if not address:
        return TargetGroup(source)
    port = text(table(table(status, "daemonEndpoints"), "kubeletEndpoint"), "Port") or "0"
    target = {ADDRESS: join_host_port(address, port), INSTANCE: text(table(node, "metadata"), "name")}
    target |= {f"{PREFIX}{sanitized(f'node_address_{kind}')}": value for kind, value in addresses.items()}
    shared = node_labels(node) | {PREFIX + "node_provider_id": text(table(node, "spec"), "providerID")}
    return TargetGroup(source, (Labels.of(target),), Labels.of(shared))
