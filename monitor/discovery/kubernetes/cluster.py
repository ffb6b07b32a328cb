"""The targets of one role in a cluster: what the reflectors have, and the groups that become of it."""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from monitor.discovery.kubernetes import endpoints, node, pod, service
from monitor.discovery.kubernetes.meta import Json
from monitor.discovery.kubernetes.reflector import USUAL_PACE, Api, Kept, Pace, Reflector, Resource
from monitor.discovery.provider import Found
from monitor.model.instant import Duration
from monitor.model.labels import Labels
from monitor.model.targetgroup import TargetGroup

_MOST_PAIRS = 200_000


class Kind(NamedTuple):
    """A kind of objects: where the API has it, and what is kept of an object."""

    group: str
    plural: str
    trimmed: Callable[[Json], Json]
    namespaced: bool = True


KINDS = {
    "pod": Kind("/api/v1", "pods", pod.trimmed),
    "service": Kind("/api/v1", "services", service.trimmed),
    "endpoints": Kind("/api/v1", "endpoints", endpoints.trimmed),
    "endpointslice": Kind("/apis/discovery.k8s.io/v1", "endpointslices", endpoints.trimmed),
    "node": Kind("/api/v1", "nodes", node.trimmed, namespaced=False),
}
# What a role reads beside its own kind.
_BESIDE: Mapping[str, Sequence[str]] = {"endpoints": ("pod", "service"), "endpointslice": ("pod", "service")}


class Sharing:
    """Gives groups the same pairs: of hundreds of thousands of labels most are those of other pods, too."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}

    def __call__(self, group: TargetGroup) -> TargetGroup:
        if len(self._pairs) > _MOST_PAIRS:
            # What is unique would fill the memory for ever.
            self._pairs = {}
        share = self._pairs.setdefault
        targets = tuple(Labels(share(pair, pair) for pair in labels) for labels in group.targets)
        return TargetGroup(group.source, targets, Labels(share(pair, pair) for pair in group.labels))


def resources(
    role: str, namespaces: Sequence[str], selectors: Mapping[str, Mapping[str, str]], *, nodes: bool
) -> list[Resource]:
    """
    Return what is to be listed and watched for a role: in all `namespaces`, without any in the whole cluster.

    `selectors` are query parameters for a kind; `nodes`: their labels are wanted too.
    """
    nodes = nodes and role in ("pod", *_BESIDE)
    kinds = [role, *_BESIDE.get(role, ()), *(("node",) if nodes else ())]
    sharing = Sharing()
    # What needs no other object becomes a group at once, and nothing else is kept of it.
    alone = _ALONE.get(role) if not nodes else None
    found: list[Resource] = []
    for name in kinds:
        kind = KINDS[name]
        kept = _then(alone, sharing) if alone is not None else kind.trimmed
        places = [f"/namespaces/{namespace}" for namespace in namespaces] if kind.namespaced else []
        for place in places or [""]:
            path = f"{kind.group}{place}/{kind.plural}"
            found.append(Resource(name, path, selectors.get(name, {}), kept))
    return found


_ALONE: Mapping[str, Callable[[Json], TargetGroup]] = {
    "pod": lambda found: pod.pod_group(found, {}),
    "service": service.service_group,
    "node": node.node_group,
}


def _then(first: Callable[[Json], TargetGroup], second: Sharing) -> Callable[[Json], TargetGroup]:
    return lambda found: second(first(found))


class KubernetesDiscovery:
    """
    The groups of a role. `connect` makes a connection for each reflector, which has a thread of its own.

    A group is worked out again when its object has changed, or one that it was looked up with.
    """

    def __init__(
        self, role: str, wanted: Sequence[Resource], connect: Callable[[], Api], pace: Pace = USUAL_PACE
    ) -> None:
        self._role = role
        self._together = pace.together
        self._sharing = Sharing()
        self._reflectors = [Reflector(resource, connect(), self._has_changed, pace) for resource in wanted]
        self._reads_nodes = any(one.resource.kind == "node" for one in self._reflectors) and role != "node"
        self._changed = threading.Condition()
        self._dirty: set[str] = set()
        self._news = False
        self._started = False
        self._stopped = False
        self._groups: dict[str, TargetGroup] = {}
        # Which groups have looked up an object, by its kind and key; and the other way round.
        self._readers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._read: dict[str, set[tuple[str, str]]] = {}

    def look(self) -> tuple[Found, Duration]:
        """Wait for news, and return all groups."""
        if not self._started:
            self._started = True
            for reflector in self._reflectors:
                threading.Thread(target=reflector.run, name="kubernetes", daemon=True).start()
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or (self._news and self._all_tried()))
            dirty, self._dirty, self._news = self._dirty, set(), False
        for key in dirty:
            self._work_out(key)
        errors = [error for one in self._reflectors if (error := one.error) is not None]
        return Found(tuple(self._groups.values()), errors), self._together

    def stop(self) -> None:
        """End the reflectors, each as soon as its watch says something or ends, and a look that waits."""
        for reflector in self._reflectors:
            reflector.stop()
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _all_tried(self) -> bool:
        return all(one.has_tried for one in self._reflectors)

    def _has_changed(self, reflector: Reflector, key: str) -> None:
        with self._changed:
            if reflector.resource.kind == self._role:
                self._dirty.update((key,) if key else ())
            else:
                self._dirty |= self._readers.get((reflector.resource.kind, key), set())
            self._news = True
            self._changed.notify_all()

    def _find(self, kind: str, key: str) -> Kept | None:
        for reflector in self._reflectors:
            if reflector.resource.kind == kind and (found := reflector.objects.get(key)) is not None:
                return found
        return None

    def _work_out(self, key: str) -> None:
        obj = self._find(self._role, key)
        read: set[tuple[str, str]] = set()
        # Before the objects are read: one that changes in between makes the group dirty again.
        group = self._sharing(self._group(obj, key, read)) if isinstance(obj, dict) else obj
        with self._changed:
            for gone in self._read.pop(key, set()) - read:
                self._readers[gone].discard(key)
                if not self._readers[gone]:
                    del self._readers[gone]
            if group is not None:
                self._read[key] = read
        if group is None:
            self._groups.pop(key, None)
        else:
            self._groups[key] = group

    def _group(self, obj: Json, key: str, read: set[tuple[str, str]]) -> TargetGroup:
        def find(kind: str, wanted: str) -> Json | None:
            read.add((kind, wanted))
            with self._changed:
                self._readers[kind, wanted].add(key)
            found = self._find(kind, wanted)
            return found if isinstance(found, dict) else None

        def node_labels(name: str) -> dict[str, str]:
            found = find("node", name) if self._reads_nodes and name else None
            return node.node_labels(found) if found is not None else {}

        match self._role:
            case "pod":
                return pod.pod_group(obj, node_labels(str(obj["spec"]["nodeName"])))
            case "endpoints":
                return endpoints.endpoints_group(obj, find, node_labels)
            case _:
                return endpoints.endpointslice_group(obj, find, node_labels)
