"""
From a discovered target to one that is scraped: labels of the job are filled in, relabelling decides.

reference: Prometheus 3, scrape/target.go PopulateLabels, Target.URL.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from monitor.model.instant import Duration, DurationError, format_duration, parse_duration
from monitor.model.labels import EMPTY, INSTANCE, JOB, Labels
from monitor.model.relabel import RelabelConfig, relabel
from monitor.model.target import Target
from monitor.model.targetgroup import TargetGroup

ADDRESS, SCHEME, METRICS_PATH = "__address__", "__scheme__", "__metrics_path__"
SCRAPE_INTERVAL, SCRAPE_TIMEOUT = "__scrape_interval__", "__scrape_timeout__"
META, PARAM, RESERVED = "__meta_", "__param_", "__"
# What would end the host, in the midst of an address: what stands behind it would be asked, with our credentials.
_NO_PART_OF_A_HOST = re.compile(r"[\x00-\x20\x7f@?#\\]")


@dataclass(frozen=True, slots=True)
class JobSettings:
    """What a scrape config says of its targets; durations are milliseconds."""

    job_name: str
    scrape_interval: Duration
    scrape_timeout: Duration
    metrics_path: str = "/metrics"
    scheme: str = "http"
    params: tuple[tuple[str, tuple[str, ...]], ...] = ()
    relabel_configs: tuple[RelabelConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class Discovered:
    """
    What became of one discovered target, which `own` labels and those of its group, `shared`, describe.

    `labels` are all labels after relabelling, those that begin with `__` among them, empty when a rule dropped it.
    `target` is what to scrape, None when it was dropped or is wrong in itself, which `error` tells.
    """

    job: JobSettings
    own: Labels
    shared: Labels
    labels: Labels = EMPTY
    target: Target | None = None
    scrape_interval: Duration = 0
    scrape_timeout: Duration = 0
    error: str = ""

    @property
    def discovered_labels(self) -> Labels:
        """The labels before relabelling. Not kept: in a large cluster nearly everything that is found is dropped."""
        return Labels.of(_filled({**dict(self.shared), **dict(self.own)}, self.job))


def populate(groups: Iterable[TargetGroup], job: JobSettings) -> Iterator[Discovered]:
    """Yield what becomes of each target, in the order of the groups."""
    for group in groups:
        for own in group.targets:
            yield _populated(Discovered(job, own, group.labels))


def _filled(labels: dict[str, str], job: JobSettings) -> dict[str, str]:
    """Lay what the target says of itself over what its job says."""
    given = {
        JOB: job.job_name,
        SCRAPE_INTERVAL: format_duration(job.scrape_interval),
        SCRAPE_TIMEOUT: format_duration(job.scrape_timeout),
        METRICS_PATH: job.metrics_path,
        SCHEME: job.scheme,
        **{PARAM + name: values[0] for name, values in job.params if values},
    }
    return {**given, **labels}


def _populated(found: Discovered) -> Discovered:
    discovered, job = found.discovered_labels, found.job
    labels = discovered.as_dict()
    if not relabel(labels, job.relabel_configs):
        return found
    try:
        interval, timeout = _checked(labels)
    except ValueError as err:
        return replace(found, error=str(err))
    kept = {name: value for name, value in labels.items() if not name.startswith(META)}
    kept.setdefault(INSTANCE, kept[ADDRESS])
    shown = Labels.of({name: value for name, value in kept.items() if not name.startswith(RESERVED)})
    target = Target(job.job_name, _url(kept, job), shown, discovered)
    return replace(found, labels=Labels.of(kept), target=target, scrape_interval=interval, scrape_timeout=timeout)


def _checked(labels: dict[str, str]) -> tuple[Duration, Duration]:
    """Return interval and timeout; raises ValueError when something makes the target impossible to scrape."""
    address = labels.get(ADDRESS, "")
    if not address:
        raise ValueError("no address")
    if "/" in address:
        raise ValueError(f'"{address}" is not a valid hostname')
    interval = _duration(labels.get(SCRAPE_INTERVAL, ""), "interval")
    timeout = _duration(labels.get(SCRAPE_TIMEOUT, ""), "timeout")
    if timeout > interval:
        both = f'("{labels[SCRAPE_TIMEOUT]}" > "{labels[SCRAPE_INTERVAL]}")'
        raise ValueError(f"scrape timeout cannot be greater than scrape interval {both}")
    return interval, timeout


def _duration(written: str, what: str) -> Duration:
    try:
        found = parse_duration(written)
    except DurationError as err:
        raise ValueError(f"error parsing scrape {what}: {err}") from err
    if found == 0:
        raise ValueError(f"scrape {what} cannot be 0")
    return found


def _url(labels: dict[str, str], job: JobSettings) -> str:
    params = {name: list(values) for name, values in job.params}
    for name, value in labels.items():
        if name.startswith(PARAM):
            params[name.removeprefix(PARAM)] = [value, *params.get(name.removeprefix(PARAM), [])[1:]]
    query = "?" + urlencode(sorted(params.items()), doseq=True) if any(params.values()) else ""
    path = quote(labels.get(METRICS_PATH, ""), safe="/%:@!$&'()*+,;=~-._")
    slash = "" if not path or path.startswith("/") else "/"
    address = _NO_PART_OF_A_HOST.sub(lambda found: quote(found[0]), labels[ADDRESS])
    return f"{labels.get(SCHEME, '')}://{address}{slash}{path}{query}"
