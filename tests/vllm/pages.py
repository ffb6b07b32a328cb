"""Pages that a version of vLLM would show, made of the table of families."""

from collections.abc import Iterator

from monitor.model.labels import Labels
from monitor.model.sample import MetricType
from monitor.vllm.buckets import edges
from monitor.vllm.families import Engine, Family, families
from monitor.vllm.version import Version, parse_version

MAX_MODEL_LEN = 8192
_CACHE_CONFIG = {"block_size": "16", "cache_dtype": "auto", "num_gpu_blocks": "4096", "gpu_memory_utilization": "0.9"}
_LATER_CONFIG = {"kv_cache_size_tokens": "65536", "kv_cache_max_concurrency": "8.0"}
_CONFIG_SINCE = Version(0, 24, 0)


def page(version: str, engine: Engine = Engine.V1, *, served: bool = True, stats: bool = True) -> str:
    """
    Return the page of a server with default flags, one process, one engine and one model.

    `served`: requests have ended; until then the V0 engine shows hardly anything. `stats`: not --disable-log-stats.
    """
    lines: list[str] = []
    running = parse_version(version)
    for family in families().values():
        if family.shown(running, engine) and _is_there(family, engine, served=served, stats=stats):
            lines += [f"# HELP {family.name} .", f"# TYPE {family.name} {family.type.value}"]
            lines += _samples(family, running, engine, served=served)
    return "\n".join(lines) + "\n"


def _is_there(family: Family, engine: Engine, *, served: bool, stats: bool) -> bool:
    if family.name.startswith("vllm:") and not stats:
        return False
    if family.needs(engine) and not (engine is Engine.V1 and "single" in family.condition):
        return False
    return served or not (family.lazy and engine is Engine.V0)


def _samples(family: Family, version: Version, engine: Engine, *, served: bool) -> Iterator[str]:
    if family.name.startswith("http_") and not served and family.labels:
        return
    for labels in _children(family, version, engine):
        if family.type is MetricType.HISTOGRAM:
            bounds = edges(family.buckets, version, MAX_MODEL_LEN) or (1.0, float("inf"))
            for edge in bounds:
                yield _line(f"{family.name}_bucket", labels.with_(le="+Inf" if edge == float("inf") else str(edge)))
        if family.type in (MetricType.HISTOGRAM, MetricType.SUMMARY):
            yield _line(f"{family.name}_sum", labels)
            yield _line(f"{family.name}_count", labels)
        else:
            yield _line(family.name, labels)


def _line(name: str, labels: Labels) -> str:
    return f"{labels.with_(__name__=name)} 0"


def _children(family: Family, version: Version, engine: Engine) -> list[Labels]:
    """Return the label sets of a family; of values that only time brings, such as a status, those of a good day."""
    known = {"engine": "0", "model_name": "a-model", "handler": "/v1/completions", "method": "POST", "status": "2xx"}
    found = [Labels()]
    for label in family.labels_in(version, engine):
        if label.name == "*":
            later = _LATER_CONFIG if version >= _CONFIG_SINCE else {}
            found = [labels.with_({**_CACHE_CONFIG, **later}) for labels in found]
            continue
        values = (known[label.name],) if label.name in known else label.values_in(version) or ("x",)
        found = [labels.with_({label.name: value}) for labels in found for value in values]
    return found
