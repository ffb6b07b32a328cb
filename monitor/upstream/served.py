"""
The vLLM servers that a Prometheus scrapes, and what they offer: so that blind rules are seen without a page.

A server is known by the requests it runs; its series of the last minutes stand for the lines of its page.
"""

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.model.instant import MINUTE, SECOND, Duration, Instant, to_seconds
from monitor.model.labels import INSTANCE, JOB, Labels, quoted
from monitor.model.sample import Metadata
from monitor.model.target import Target
from monitor.promql import Vector
from monitor.remote.client import Client
from monitor.remote.engine import value_of
from monitor.remote.errors import RemoteError
from monitor.scrape.shape import Page, Series
from monitor.vllm.families import PREFIXES

log = logging.getLogger(__name__)

EVERY: Duration = 5 * MINUTE
# Whether there are any is a small question, and where there are none nothing else speaks.
EVERY_SEARCH: Duration = MINUTE
# Where there is none yet, somebody has just begun.
EVERY_WHEN_NONE: Duration = 10 * SECOND
# So many servers are looked at in one go, and at all: a server has a thousand series.
MOST_AT_ONCE, MOST = 5, 200
_RECENT: Duration = 5 * MINUTE
_SECONDS = 10.0
_RUNNING = "num_requests_running"
# The HTTP server shows the one from its start on, and with it that it counts the other from the first request on. A
# page announces that by TYPE, of which a series database knows nothing.
_TIMED, _COUNTED = "http_request_duration_highr_seconds_count", "http_requests_total"


@dataclass
class ServedTarget:
    """One server; `metadata` is another object whenever its names are others, and empty before it has been read."""

    target: Target
    metadata: Mapping[str, Metadata] = field(default_factory=dict)
    series: Sequence[Labels] = ()
    read_at: Instant | None = None

    @property
    def owner(self) -> Hashable:
        return ("served", self.target.labels)

    def whole_page(self) -> Page:
        """Return its series, as if they stood on a page."""
        families = {_COUNTED: Metadata()} if _TIMED in self.metadata else {}
        return Page(series=[Series(labels, counter=False) for labels in self.series], families=families)

    def take(self, series: Sequence[Labels], at: Instant) -> None:
        """These are its series at `at`."""
        names = {labels.name for labels in series}
        if names != self.metadata.keys():
            self.metadata = {name: Metadata() for name in sorted(names)}
        self.series, self.read_at = series, at


class ServedTargets:
    """
    Looks now and then. One thread at a time calls `look`.

    `has_any` is whether there are servers, with or without series; None while it is not known.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._found: dict[Labels, ServedTarget] = {}
        self._looked_at: Instant | None = None
        # Of all that were ever found.
        self._jobs: frozenset[str] = frozenset()
        self.has_any: bool | None = None

    @property
    def targets(self) -> tuple[ServedTarget, ...]:
        return tuple(self._found.values())

    def look(self, at: Instant) -> None:
        """Find the servers, and read some of those that have not been read for long."""
        try:
            every = EVERY_SEARCH if self._found else EVERY_WHEN_NONE
            if self._looked_at is None or not 0 <= at - self._looked_at < every:
                self._find(at)
                self._looked_at = at
            due = [one for one in self._found.values() if one.read_at is None or at - one.read_at >= EVERY]
            for one in sorted(due, key=lambda one: one.read_at or 0)[:MOST_AT_ONCE]:
                one.take(self._series(one.target.labels, at), at)
        except RemoteError as err:
            # Rules that are not answered say so themselves.
            log.debug("servers not looked for: %s", err)

    def take_over(self, old: "ServedTargets") -> None:
        """Go on where `old` stood."""
        self._jobs, self.has_any = old._jobs, old.has_any  # noqa: SLF001 - the same class

    def shift(self) -> None:
        """The clock was set."""
        self._looked_at = None
        for one in self._found.values():
            one.read_at = None

    def _find(self, at: Instant) -> None:
        names = "|".join(prefix + _RUNNING for prefix in PREFIXES)
        answer = self._client.query(f"group by (job, instance) ({{__name__=~{quoted(names)}}})", at, _SECONDS)
        value = value_of(answer.data, at, self._client.name)
        if answer.partial or not isinstance(value, Vector):
            return
        there = sorted(labels for labels, _ in value.samples if labels.value(INSTANCE))[:MOST]
        self._found = {labels: self._found.get(labels) or _served(labels) for labels in there}
        self._jobs |= {labels.value(JOB) for labels in there}
        self.has_any = bool(there) or self._scrapes(at)

    def _scrapes(self, at: Instant) -> bool:
        """Say whether servers are looked after that only do not answer: then rules speak."""
        if not self._jobs:
            return False
        answer = self._client.query("group by (job) (up)", at, _SECONDS)
        value = value_of(answer.data, at, self._client.name)
        jobs = {labels.value(JOB) for labels, _ in value} if isinstance(value, Vector) else set()
        return bool(answer.partial) or not self._jobs.isdisjoint(jobs)

    def _series(self, target: Labels, at: Instant) -> list[Labels]:
        matchers = ",".join(f"{name}={quoted(target.value(name))}" for name in (JOB, INSTANCE))
        period = [("start", str(to_seconds(at - _RECENT))), ("end", str(to_seconds(at)))]
        data = self._client.get("/api/v1/series", [("match[]", f"{{{matchers}}}"), *period], _SECONDS).data
        return [Labels.of(one) for one in data if _is_series(one)] if isinstance(data, list) else []


def _served(labels: Labels) -> ServedTarget:
    return ServedTarget(Target(labels.value(JOB), "", labels, Labels()))


def _is_series(one: Any) -> bool:
    return isinstance(one, dict) and all(isinstance(text, str) for pair in one.items() for text in pair)
