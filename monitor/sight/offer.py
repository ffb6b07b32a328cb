"""What a target offers: the series and families of one of its pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from monitor.model.labels import EMPTY, Labels
from monitor.model.sample import Metadata, MetricType
from monitor.vllm.families import KSERVE_PREFIX, PREFIX, RAY_PREFIX, Engine, canonical, family_of
from monitor.vllm.guess import Running, Shown, engine_of, guess
from monitor.vllm.version import Version, VersionError, parse_version

# What a scrape says of itself, in every target.
SYNTHETIC = (
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "scrape_samples_post_metric_relabeling",
    "scrape_series_added",
)
_HTTP = "http_request_duration_highr_seconds"
_FINISHED = "vllm:e2e_request_latency_seconds"
_RUST = Version(0, 22, 0)
_PYTHON_ONLY = frozenset(("vllm:cache_config_info", "http_request_size_bytes", "process_start_time_seconds"))


@dataclass(frozen=True, slots=True)
class Offer:
    """
    One page, taken apart.

    `labels` are the target's. `series` are those of the page as they are stored, by metric name; `described` the
    families that it has or announces, by the names that vLLM itself gives them. `running` is None where nothing shows
    that this is a vLLM server; `prefix` is how its names begin.
    """

    labels: Labels
    series: Mapping[str, Sequence[Labels]]
    described: frozenset[str]
    running: Running | None = None
    prefix: str = PREFIX

    def here(self, metric: str) -> str:
        """Return the name that the server gives to `metric`, whoever's name that is."""
        name = canonical(metric)
        return self.prefix + name.removeprefix(PREFIX) if name.startswith(PREFIX) else name

    @property
    def stats_off(self) -> bool:
        """Whether the server shows nothing of its engine, as with --disable-log-stats."""
        return not any(name.startswith(PREFIX) for name in self.described)

    @property
    def has_finished(self) -> bool:
        """Whether any request has ended, by what the V0 engine shows only then."""
        return _FINISHED in self.described

    @property
    def is_rust(self) -> bool:
        """Whether the Rust front-end shows the page: it lacks what only the one in Python has."""
        is_new = self.running is not None and self.running.version >= _RUST
        return is_new and _HTTP in self.described and not _PYTHON_ONLY & self.described


def offer_of(
    series: Iterable[Labels], families: Mapping[str, Metadata], target: Labels = EMPTY, version: str = ""
) -> Offer:
    """Return what a page offers that has these series and descriptions; `version` is what the server says of itself."""
    by_name: dict[str, list[Labels]] = {}
    for labels in series:
        by_name.setdefault(labels.name, []).append(labels)
    for name in SYNTHETIC:
        by_name.setdefault(name, [target.with_(__name__=name)])
    described = frozenset(_described(families)) | {
        family.name for name in by_name if (family := family_of(name)) is not None
    }
    prefixes = (prefix for prefix in (RAY_PREFIX, KSERVE_PREFIX) if any(name.startswith(prefix) for name in by_name))
    return Offer(target, by_name, described, _running(by_name, described, version), next(prefixes, PREFIX))


def _described(families: Mapping[str, Metadata]) -> Iterable[str]:
    for name, metadata in families.items():
        # OpenMetrics names the family of a counter without its suffix.
        is_bare = metadata.type is MetricType.COUNTER and not name.endswith("_total")
        yield canonical(name + "_total" if is_bare else name)


def _running(by_name: Mapping[str, Sequence[Labels]], described: frozenset[str], version: str) -> Running | None:
    has_label = any(labels.value("engine") for name, some in by_name.items() if _is_engines(name) for labels in some)
    shown = Shown.of(described, engine_label=has_label)
    try:
        exact = parse_version(version)
    except VersionError:
        is_vllm = _HTTP in described or any(name.startswith(PREFIX) for name in described)
        return guess(shown) if is_vllm else None
    engine = Engine.V1 if not any(map(_is_engines, described)) else engine_of(exact, shown)
    return Running(exact, engine, exact=True)


def _is_engines(name: str) -> bool:
    return canonical(name).startswith(PREFIX)
