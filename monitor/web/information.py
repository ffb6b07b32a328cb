"""What the HTTP API tells beside samples: what families mean, and what answers here."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from flask import Response, request

from monitor.clock import Clock
from monitor.model.instant import Duration, Instant, format_duration
from monitor.model.sample import Metadata
from monitor.web import gate, queries, views
from monitor.web.answer import Answer, Json
from monitor.web.parameters import number_of
from monitor.web.routes import Daemon
from monitor.web.series import Storage

# Clients choose by this version how they ask: it names the Prometheus whose HTTP API is spoken here.
API_VERSION = "3.5.0"
_MOST_LISTED = 10


class Contents(Storage, Protocol):
    """What samples there are, and how long they stay."""

    @property
    def retention(self) -> Duration: ...

    def size(self) -> tuple[int, int]:
        """Return the number of series and of samples held."""
        ...


@dataclass(frozen=True)
class Information:
    """One method a path; `version` and `started` are the daemon's own."""

    daemon: Daemon
    contents: Contents
    clock: Clock
    version: str
    started: Instant

    def metadata(self) -> Response:
        most, most_each = number_of(request.args, "limit"), number_of(request.args, "limit_per_metric")
        only = request.args.get("metric", "")
        families = _described((loop.metadata for loop in self.daemon.snapshot().loops), only)
        shown = {name: each[:most_each] if most_each > 0 else each for name, each in families.items()}
        return Answer(dict(list(shown.items())[: max(most, 0)] if most >= 0 else shown)).response()

    def buildinfo(self) -> Response:
        data = {
            "version": API_VERSION,
            "revision": self.version,
            "branch": "vllm-monitor",
            "buildUser": "",
            "buildDate": "",
            "goVersion": "",
        }
        return Answer(data).response()

    def runtimeinfo(self) -> Response:
        data = {
            "startTime": views.timestamp(self.started),
            "serverTime": views.timestamp(self.clock.now()),
            "storageRetention": format_duration(self.contents.retention),
        }
        return Answer(data).response()

    def flags(self) -> Response:
        """Answer with the limits that hold, by the names of Prometheus' flags."""
        data = {
            "query.lookback-delta": format_duration(queries.LOOKBACK),
            "query.max-concurrency": str(gate.RUNNING),
            "query.timeout": f"{queries.TIMEOUT_SECONDS:g}s",
            "storage.tsdb.retention.time": format_duration(self.contents.retention),
        }
        return Answer(data).response()

    def tsdb(self) -> Response:
        columns = self.contents.select(())
        names = Counter(column.labels.name for column in columns)
        pairs = Counter(pair for column in columns for pair in column.labels)
        values = Counter(name for name, _ in pairs)
        times = [column.block.view[0] for column in columns]
        data = {
            "headStats": {
                "numSeries": len(columns),
                "numLabelPairs": len(pairs),
                "chunkCount": len(columns),
                "minTime": min((some[0] for some in times if some), default=0),
                "maxTime": max((some[-1] for some in times if some), default=0),
            },
            "seriesCountByMetricName": _most(names),
            "labelValueCountByLabelName": _most(values),
            "memoryInBytesByLabelName": [],
            "seriesCountByLabelValuePair": _most(
                Counter({f"{name}={value}": count for (name, value), count in pairs.items()})
            ),
        }
        return Answer(data).response()


def _described(pages: Iterable[Mapping[str, Metadata]], only: str) -> dict[str, list[Json]]:
    """Return what the pages say of each family, each different description once, by name."""
    found: dict[str, list[Json]] = {}
    for page in pages:
        for name in (only,) if only else page:
            one = page.get(name)
            if one is None:
                continue
            shown = {"type": one.type.value, "unit": one.unit, "help": one.help}
            if shown not in found.setdefault(name, []):
                found[name].append(shown)
    return dict(sorted(found.items()))


def _most(counted: "Counter[str]") -> list[Json]:
    return [{"name": name, "value": count} for name, count in counted.most_common(_MOST_LISTED)]
