"""
The table of metric families: what a page of a given version shows, under which names, types and labels.

source: pages recorded from vLLM 0.32.0, 0.11.2 and 0.9.0.1; the version ranges of the others from vLLM's releases.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path

from monitor.model.sample import MetricType
from monitor.simulator.script import Server

Version = tuple[float, ...]

_LATENCY = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_TTFT = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
    160,
    640,
    2560,
)
_ITL = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_HIGHR = (0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60)
_BUCKETS: dict[str, tuple[float, ...]] = {
    "-": (),
    "latency": _LATENCY,
    "ttft": _TTFT,
    "itl": _ITL,
    "iteration": (1, *(float(2**power) for power in range(3, 15))),
    "preemptions": (1, 2, 3, 4, 5, 10, 20),
    "n": (1, 2, 5, 10, 20),
    "http": (0.1, 0.5, 1),
    "highr": _HIGHR,
}

# source: recorded; several API servers have no sample of these before the first request, though HELP and TYPE.
_SHOWN_BY_A_STEP = frozenset({"running", "waiting", "waiting_reason", "kv_usage"})


@dataclass(frozen=True, slots=True)
class Family:
    """
    One family of one version's page.

    `source` is the key of the meter that feeds it; of `labels`, at most one has several values, each a child that is
    fed by `source:value`. A value `$flag` comes from the server. `=1` is the constant 1. Flags: `lazy` families have a
    header but no child before the first use, `hidden` ones not even the header; `alone` ones vanish in multiprocess
    mode; `bare` ones have no `_created` companion; `spec` ones are there with speculative decoding only.
    """

    name: str
    type: MetricType
    source: str
    labels: tuple[tuple[str, tuple[str, ...]], ...]
    bounds: tuple[float, ...]
    flags: frozenset[str]
    help: str

    @property
    def of_engine(self) -> bool:
        """Whether the engine feeds it; the API server feeds the others."""
        return self.name.startswith("vllm:")


def parse_version(text: str) -> Version:
    """Return a version as numbers; what follows the first letter (`.post1`) does not count."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def families(server: Server) -> tuple[Family, ...]:
    """Return the families on the page of `server`, in the order of the page."""
    version = parse_version(server.version)
    engine = "v1" if server.v1 else "v0"
    shown = []
    for row in _table():
        flags = frozenset(flag.removeprefix(f"{engine}-") for flag in row["flags"].split(",")) - {"-"}
        if not _within(version, row[engine]) or (server.multiprocess and "alone" in flags):
            continue
        if server.disable_log_stats and row["name"].startswith("vllm:"):
            continue
        if "spec" in flags and not server.num_speculative_tokens:
            continue
        if server.multiprocess and server.v1 and row["source"] in _SHOWN_BY_A_STEP:
            flags |= {"lazy"}
        bounds = _one_two_five(server.max_model_len) if row["buckets"] == "tokens" else _BUCKETS[row["buckets"]]
        labels = _labels(row["labels"], version)
        if not server.v1:
            labels = tuple(pair for pair in labels if pair[0] != "engine")
        shown.append(
            Family(row["name"], MetricType(row["type"]), row["source"], labels, bounds, flags, row["help"]),
        )
    return tuple(shown)


@cache
def _table() -> Sequence[dict[str, str]]:
    with Path(__file__).with_name("families.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _within(version: Version, span: str) -> bool:
    """Say whether a version lies in `first-last`; an open end is the newest, and `0.23` includes 0.23.1."""
    first, dash, last = span.partition("-")
    if not first or not dash:
        return False
    return parse_version(first) <= version and (not last or version <= (*parse_version(last), inf))


def _labels(text: str, version: Version) -> tuple[tuple[str, tuple[str, ...]], ...]:
    labels = []
    for pair in text.split():
        name, equals, values = pair.partition("=")
        if name != "-":
            labels.append((name, _values(values, version) if equals else ("$" + name,)))
    return tuple(sorted(labels))


def _values(text: str, version: Version) -> tuple[str, ...]:
    """Return the values that exist in this version: `stop|error@0.13.0` has the second from 0.13.0 on."""
    values = (value.partition("@") for value in text.split("|"))
    return tuple(value for value, _, since in values if not since or parse_version(since) <= version)


def _one_two_five(limit: int) -> tuple[float, ...]:
    """Return 1, 2, 5, 10, 20, 50 … up to `limit`."""
    bounds, decade = [], 1
    while decade <= limit:
        bounds += [float(digit * decade) for digit in (1, 2, 5) if digit * decade <= limit]
        decade *= 10
    return tuple(bounds)


def histogram_bounds(shown: Sequence[Family]) -> dict[str, tuple[float, ...]]:
    """Return the buckets of every histogram and summary by source."""
    kinds = (MetricType.HISTOGRAM, MetricType.SUMMARY)
    return {family.source: family.bounds for family in shown if family.type in kinds}
