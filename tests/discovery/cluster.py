"""Objects of a small cluster: a production stack of vLLM, llm-d, and what is odd in any cluster."""

from typing import Any

Json = dict[str, Any]


def pod(name: str, namespace: str = "llm", ip: str = "10.1.0.1", **more: Any) -> Json:
    """Return a pod with a container for each `containers`: (name, [(port name, number)])."""
    containers = more.get("containers", [("vllm", [("container-port", 8000)])])
    init = more.get("init", [])
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "labels": more.get("labels", {"app": "vllm"}),
            "annotations": more.get("annotations", {}),
            "ownerReferences": [
                {"kind": "ReplicaSet", "name": f"{name}-rs", "controller": True, "apiVersion": "apps/v1", "uid": "u"}
            ],
        },
        "spec": {
            "nodeName": more.get("node", "gpu-1"),
            "containers": [_container(*one) for one in containers],
            "initContainers": [_container(*one) for one in init],
        },
        "status": {
            "phase": "Running" if ip else "Pending",
            "podIP": ip,
            "hostIP": "192.168.0.1",
            "conditions": [
                {"type": "Initialized", "status": "True"},
                {"type": "Ready", "status": more.get("ready", "True")},
            ],
            "containerStatuses": [
                {
                    "name": one[0],
                    "containerID": f"containerd://{one[0]}",
                    "image": "i",
                    "imageID": "",
                    "ready": True,
                    "restartCount": 0,
                }
                for one in containers
            ],
            "initContainerStatuses": [
                {
                    "name": one[0],
                    "containerID": f"containerd://{one[0]}",
                    "image": "i",
                    "imageID": "",
                    "ready": True,
                    "restartCount": 0,
                }
                for one in init
            ],
        },
    }


def _container(name: str, ports: list[tuple[str, int]]) -> Json:
    return {
        "name": name,
        "image": f"registry.example/{name}:v1",
        "ports": [{"name": port, "containerPort": number, "protocol": "TCP"} for port, number in ports],
    }


def service(name: str, namespace: str = "llm", kind: str = "ClusterIP", **more: Any) -> Json:
    spec: Json = {
        "type": kind,
        "clusterIP": "10.96.0.7",
        "ports": [{"name": "service-port", "port": 80, "protocol": "TCP"}],
    }
    if kind == "ExternalName":
        spec["externalName"] = "vllm.example.org"
    if kind == "LoadBalancer":
        spec["loadBalancerIP"] = "203.0.113.9"
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": more.get("labels", {"app": "vllm"}),
            "annotations": {"a.b/c": "d"},
        },
        "spec": spec,
    }


def _reference(name: str, namespace: str) -> Json:
    return {"kind": "Pod", "name": name, "namespace": namespace}


def endpoints(
    name: str,
    namespace: str = "llm",
    ready: tuple[tuple[str, str], ...] = (),
    waiting: tuple[tuple[str, str], ...] = (),
) -> Json:
    """Return endpoints with the addresses of pods: (name, address)."""

    def addresses(pods: tuple[tuple[str, str], ...]) -> list[Json]:
        return [{"ip": ip, "nodeName": "gpu-1", "targetRef": _reference(pod, namespace)} for pod, ip in pods]

    return {
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "vllm"}},
        "subsets": [
            {
                "addresses": [*addresses(ready), {"ip": "10.9.9.9", "hostname": "outside"}],
                "notReadyAddresses": addresses(waiting),
                "ports": [{"name": "service-port", "port": 8000, "protocol": "TCP"}],
            }
        ],
    }


def endpointslice(
    name: str, namespace: str = "llm", pods: tuple[tuple[str, str], ...] = (), of: str = "engine"
) -> Json:
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": {"kubernetes.io/service-name": of}},
        "addressType": "IPv4",
        "endpoints": [
            {
                "addresses": [ip],
                "conditions": {"ready": True, "serving": True, "terminating": False},
                "nodeName": "gpu-1",
                "zone": "eu-1a",
                "hostname": "h",
                "deprecatedTopology": {"topology.kubernetes.io/zone": "eu-1a"},
                "targetRef": _reference(pod, namespace),
            }
            for pod, ip in pods
        ],
        "ports": [{"name": "service-port", "port": 8000, "protocol": "TCP", "appProtocol": "http"}],
    }


def node(name: str = "gpu-1") -> Json:
    return {
        "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": "H100"}, "annotations": {"x/y": "z"}},
        "spec": {"providerID": "aws:///i-1"},
        "status": {
            "addresses": [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": "192.168.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        },
    }
