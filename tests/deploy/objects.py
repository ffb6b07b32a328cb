"""Kubernetes objects in YAML, and what their validators say of them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.operator import is_operators, operator_says
from tests.deploy.tools import kubernetes_says, run

# The oldest with native sidecars, the one where they are stable, and the newest that is known.
VERSIONS = ("1.28", "1.33", "1.37")
Object = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: a lone `=` is a text."""


_Loader.add_constructor("tag:yaml.org,2002:value", lambda _, node: node.value)


def read(text: str) -> list[Object]:
    """Return the objects of a text with any number of documents."""
    return [one for one in yaml.load_all(text, _Loader) if one]


def kustomized(folder: Path) -> list[Object]:
    """Return what `kubectl kustomize` makes of a folder; an AssertionError with its message when it does not."""
    done = run("kubectl", "kustomize", folder)
    assert done.returncode == 0, done.stderr
    return read(done.stdout)


def wrong_with(objects: Iterable[Object], *versions: str) -> list[str]:
    """Return what is wrong with objects, Kubernetes' and the operator's."""
    objects = list(objects)
    ours = [one for one in objects if not is_operators(one)]
    return kubernetes_says(ours, *(versions or VERSIONS)) + operator_says(filter(is_operators, objects))


def of_kind(objects: Iterable[Object], kind: str) -> list[Object]:
    return [one for one in objects if one["kind"] == kind]


def pod_of(deployment: Mapping[str, Any]) -> Any:
    return deployment["spec"]["template"]["spec"]
