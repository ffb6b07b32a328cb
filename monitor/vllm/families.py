"""
The table of vLLM's metric families.

source: the releases 0.4.3 to 0.33.0 of vLLM, and pages recorded from 0.9.0.1, 0.11.2 and 0.32.0. A version before 0.4.3
counts as 0.4.3.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType

from monitor.model.sample import MetricType
from monitor.vllm.version import Span, Version, parse_span, parse_version

ANY_LABEL = "*"
# How the same families are called behind Ray Serve and in KServe.
PREFIXES = PREFIX, RAY_PREFIX, KSERVE_PREFIX = "vllm:", "ray_vllm_", "kserve_vllm:"
_SUFFIXES: Mapping[MetricType, tuple[str, ...]] = {
    MetricType.HISTOGRAM: ("_bucket", "_sum", "_count", "_created"),
    MetricType.SUMMARY: ("", "_sum", "_count", "_created"),
    MetricType.COUNTER: ("",),
    MetricType.GAUGE: ("",),
}
_V0 = "v0: "


class Engine(StrEnum):
    V0 = "V0"
    V1 = "V1"


@dataclass(frozen=True, slots=True)
class Label:
    """
    A label of a family, from version `since` on.

    `values`: the only ones it can have, each with the version that brought it; empty where they are anybody's.
    """

    name: str
    since: Version | None = None
    values: tuple[tuple[str, Version | None], ...] = ()

    def values_in(self, version: Version) -> tuple[str, ...]:
        return tuple(value for value, since in self.values if since is None or since <= version)


@dataclass(frozen=True, slots=True)
class Family:
    """
    One family, under the name that its TYPE line has in the text format: of a counter with `_total`.

    `spans` are the versions that have it by engine, `hidden` those that show it only with
    `--show-hidden-metrics-for-version`. `instead` is what to read where it is gone: a name, or an expression.
    `buckets` names its edges (see `buckets.edges`). A `lazy` family of the V0 engine is not on the page before the
    first request has ended; a `python` one is missing from the page of the Rust front-end. `condition` is what else
    the server needs for it, "" for nothing; `v0_condition` is the same for the V0 engine.
    """

    name: str
    type: MetricType
    unit: str
    labels: tuple[Label, ...]
    spans: Mapping[Engine, Span]
    hidden: Span | None = None
    instead: str = ""
    buckets: str = ""
    lazy: bool = False
    python: bool = False
    condition: str = ""
    v0_condition: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names that its samples have; `_created` of a counter is not among them."""
        return tuple(self.name + suffix for suffix in _SUFFIXES[self.type])

    def exists(self, version: Version, engine: Engine) -> bool:
        """Say whether this version of the engine has the family, be it hidden."""
        return engine in self.spans and version in self.spans[engine]

    def shown(self, version: Version, engine: Engine) -> bool:
        """Say whether this version of the engine shows the family without being told to."""
        return self.exists(version, engine) and (self.hidden is None or version not in self.hidden)

    def needs(self, engine: Engine) -> str:
        """Return what else a server needs to show the family, "" for nothing."""
        return self.condition or (self.v0_condition if engine is Engine.V0 else "")

    def labels_in(self, version: Version, engine: Engine) -> tuple[Label, ...]:
        """Return its labels; one called `*` stands for many others that change with every version."""
        return tuple(
            label
            for label in self.labels
            if (label.since is None or label.since <= version) and (label.name != "engine" or engine is Engine.V1)
        )


@cache
def families() -> Mapping[str, Family]:
    """Return all families by name."""
    path = Path(__file__).with_name("metrics.tsv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [_family(row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return MappingProxyType({family.name: family for family in rows})


@cache
def _by_metric() -> Mapping[str, Family]:
    found = {metric: family for family in families().values() for metric in family.metrics}
    created = {f"{name.removesuffix('_total')}_created": family for name, family in families().items()}
    return {**created, **found}


def family_of(metric: str) -> Family | None:
    """Return the family of a sample's name, whatever its prefix (`ray_vllm_…_bucket`), if it is a known one."""
    return _by_metric().get(canonical(metric))


def canonical(metric: str) -> str:
    """Return the name as vLLM itself writes it: `vllm:x` of `ray_vllm_x` and of `kserve_vllm:x`."""
    for prefix in (RAY_PREFIX, KSERVE_PREFIX):
        if metric.startswith(prefix):
            return PREFIX + metric.removeprefix(prefix)
    return metric


def _family(row: Mapping[str, str]) -> Family:
    spans = {engine: parse_span(row[engine.value.lower()]) for engine in Engine}
    text = {name: "" if row[name] == "-" else row[name] for name in ("instead", "buckets", "condition")}
    condition, flags = text["condition"], row["flags"].split(",")
    return Family(
        row["name"],
        MetricType(row["type"]),
        row["unit"],
        tuple(_label(one) for one in row["labels"].split() if one != "-"),
        {engine: span for engine, span in spans.items() if span is not None},
        parse_span(row["hidden"]),
        text["instead"],
        text["buckets"],
        "lazy" in flags,
        "python" in flags,
        "" if condition.startswith(_V0) else condition,
        condition.removeprefix(_V0) if condition.startswith(_V0) else "",
    )


def _label(text: str) -> Label:
    """Return the label of `engine@0.8.3`, `model_name` or `reason=a|b@0.13.0`."""
    head, _, values = text.partition("=")
    name, since = _since(head)
    return Label(name, since, tuple(_since(value) for value in values.split("|") if value))


def _since(text: str) -> tuple[str, Version | None]:
    name, at, version = text.partition("@")
    return name, parse_version(version) if at else None
