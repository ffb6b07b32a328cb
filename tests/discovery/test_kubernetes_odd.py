"""Objects that no API server sends: whatever stands where, an object is no more than an object without targets."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.discovery.kubernetes import endpoints as endpoint_roles
from monitor.discovery.kubernetes import node as nodes
from monitor.discovery.kubernetes import pod as pods
from monitor.discovery.kubernetes import service as services
from monitor.model.targetgroup import TargetGroup
from tests.discovery.cluster import endpoints, endpointslice, node, pod, service

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
POD = pod("a", init=[("i", [("p", 1)])])
REFERRED = (("a", "10.0.0.1"),)


def find(kind: str, _key: str) -> Any:
    return {"pod": POD, "service": service("engine"), "node": node()}[kind]


def groups(objects: dict[str, Any]) -> list[TargetGroup]:
    def labels(_name: str) -> dict[str, str]:
        return {}

    return [
        pods.pod_group(objects["pod"], {}),
        pods.pod_group(pods.trimmed(objects["pod"]), {}),
        services.service_group(services.trimmed(objects["service"])),
        nodes.node_group(nodes.trimmed(objects["node"])),
        endpoint_roles.endpoints_group(endpoint_roles.trimmed(objects["endpoints"]), find, labels),
        endpoint_roles.endpointslice_group(endpoint_roles.trimmed(objects["slice"]), find, labels),
    ]


def places(obj: Any) -> list[tuple[Any, Any]]:
    """Return every place in an object: what holds it, and under which key."""
    pairs = list(obj.items()) if isinstance(obj, dict) else list(enumerate(obj)) if isinstance(obj, list) else []
    return [(obj, key) for key, _ in pairs] + [place for _, inner in pairs for place in places(inner)]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_an_object_with_something_odd_in_it_is_read_all_the_same(data: st.DataObject) -> None:
    objects: dict[str, Any] = {
        "pod": POD,
        "service": service("engine"),
        "node": node(),
        "endpoints": endpoints("engine", ready=REFERRED),
        "slice": endpointslice("engine-1", pods=REFERRED),
    }
    objects = copy.deepcopy(objects)
    for obj in objects.values():
        for _ in range(data.draw(st.integers(1, 3))):
            holder, key = data.draw(st.sampled_from(places(obj)))
            holder[key] = data.draw(JUNK)
    for group in groups(objects):
        for labels in (group.labels, *group.targets):
            assert all(isinstance(name, str) and isinstance(value, str) and value for name, value in labels)
