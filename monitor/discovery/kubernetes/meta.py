"""
From an object of the API to labels: what all kinds have in common.

reference: Prometheus 3, discovery/kubernetes. An object is JSON as the API server sends it; what is missing is empty.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

Json = dict[str, Any]

PREFIX = "__meta_kubernetes_"
NAMESPACE = PREFIX + "namespace"
# A value that is longer is left out: some tools keep whole manifests in an annotation, on every object.
LONGEST_VALUE = 4096
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_]")


@lru_cache(maxsize=8192)
def sanitized(name: str) -> str:
    """Return a name as a part of the name of a label; each name is one text, however many objects have it."""
    return _NOT_ALLOWED.sub("_", name)


@lru_cache(maxsize=8192)
def _names(role: str, kind: str, name: str) -> tuple[str, str]:
    return f"{PREFIX}{role}_{kind}_{sanitized(name)}", f"{PREFIX}{role}_{kind}present_{sanitized(name)}"


def trimmed_meta(obj: Json) -> Json:
    """Return what is read of the `metadata` of an object: no annotation that is too long to be a label."""
    meta = table(obj, "metadata")
    kept: Json = {key: meta[key] for key in ("name", "namespace", "uid", "labels", "annotations") if key in meta}
    if "annotations" in kept:
        kept["annotations"] = {name: _short(value) for name, value in table(meta, "annotations").items()}
    return kept


def _short(value: Any) -> str:
    # Empty is as good as missing, and that there was one can still be said.
    return value if isinstance(value, str) and len(value) <= LONGEST_VALUE else ""


def object_labels(role: str, meta: Json) -> dict[str, str]:
    """Return the name, the labels and the annotations of an object from its `metadata`."""
    labels = {f"{PREFIX}{role}_name": text(meta, "name")}
    for kind, given in (("label", table(meta, "labels")), ("annotation", table(meta, "annotations"))):
        for name, value in given.items():
            label, present = _names(role, kind, name)
            labels[present] = "true"
            labels[label] = _short(value)
    return labels


def key_of(obj: Json) -> str:
    """Return `namespace/name`, or the name of what has no namespace."""
    meta = table(obj, "metadata")
    name, namespace = text(meta, "name"), text(meta, "namespace")
    return f"{namespace}/{name}" if namespace else name


def table(obj: Json, key: str) -> Json:
    found = obj.get(key)
    return found if isinstance(found, dict) else {}


def tables(obj: Json, key: str) -> Iterator[Json]:
    """Yield the tables of a list."""
    found = obj.get(key)
    yield from (one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def texts(obj: Json, key: str) -> Iterator[str]:
    """Yield the texts of a list."""
    found = obj.get(key)
    yield from (one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def text(obj: Json, key: str) -> str:
    """Return a text, a number as text, and a boolean in small letters."""
    found = obj.get(key)
    if isinstance(found, bool):
        return str(found).lower()
    return str(found) if isinstance(found, str | int) else ""
