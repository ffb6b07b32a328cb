"""Services: a target for each port, by the name that the cluster's DNS knows."""

from collections.abc import Iterator

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

_SERVICE = PREFIX + "service_"


def service_labels(service: Json) -> dict[str, str]:
    meta = table(service, "metadata")
    return object_labels("service", meta) | {NAMESPACE: text(meta, "namespace")}


def service_group(service: Json) -> TargetGroup:
    return TargetGroup(f"svc/{key_of(service)}", tuple(_targets(service)), Labels.of(service_labels(service)))


def trimmed(service: Json) -> Json:
    """Return what is read of a service."""
    spec = table(service, "spec")
    keys = ("type", "clusterIP", "externalName", "loadBalancerIP", "ports")
    return {"metadata": trimmed_meta(service), "spec": {key: spec[key] for key in keys if key in spec}}


def _targets(service: Json) -> Iterator[Labels]:
    meta, spec = table(service, "metadata"), table(service, "spec")
    kind = text(spec, "type")
    host = f"{text(meta, 'name')}.{text(meta, 'namespace')}.svc"
    of_kind = {_SERVICE + "type": kind}
    if kind == "ExternalName":
        of_kind[_SERVICE + "external_name"] = text(spec, "externalName")
    else:
        of_kind[_SERVICE + "cluster_ip"] = text(spec, "clusterIP")
    if kind == "LoadBalancer":
        of_kind[_SERVICE + "loadbalancer_ip"] = text(spec, "loadBalancerIP")
    for port in tables(spec, "ports"):
        labels = {
            ADDRESS: join_host_port(host, text(port, "port")),
            _SERVICE + "port_name": text(port, "name"),
            _SERVICE + "port_number": text(port, "port"),
            _SERVICE + "port_protocol": text(port, "protocol"),
        }
        yield Labels.of(labels | of_kind)
