"""The daemon's own paths: its metrics, its health, its rules and targets."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flask import Response, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from monitor.discovery.populate import Discovered
from monitor.rules.group import Group
from monitor.scrape.target import ScrapeLoop
from monitor.sight.report import NOTHING_SEEN, Sight
from monitor.web import views
from monitor.web.answer import Answer
from monitor.web.error import invalid


class Daemon(Protocol):
    """What the HTTP side needs of the daemon."""

    def snapshot(self) -> "Snapshot":
        """Return what the daemon consists of now."""
        ...

    def reload(self) -> str:
        """Load the configuration again; returns what is wrong with it, or "" when it was accepted."""
        ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    What the daemon consists of.

    `ready`: the first round of scrapes and rules is behind it. `sight`: which rules are blind. `found`: of each job
    what became of the targets that were found. `stands_by`: another one tells; None where there is no other.
    """

    groups: list[Group]
    loops: list[ScrapeLoop]
    ready: bool
    sight: Sight = NOTHING_SEEN
    found: Mapping[str, Sequence[Discovered]] = field(default_factory=dict)
    stands_by: bool | None = None


class Routes:
    """One method a path; `prepare` is called before /metrics is read."""

    def __init__(self, daemon: Daemon, registry: CollectorRegistry, prepare: Callable[[], None]) -> None:
        self._daemon = daemon
        self._registry = registry
        self._prepare = prepare

    def metrics(self) -> Response:
        self._prepare()
        return Response(generate_latest(self._registry), content_type=CONTENT_TYPE_LATEST)

    def healthy(self) -> Response:
        return text("vllm-monitor is healthy.\n")

    def ready(self) -> Response:
        snapshot = self._daemon.snapshot()
        status = 200 if snapshot.ready else 503
        if snapshot.stands_by is not None:
            body = {"ready": snapshot.ready, "role": "standby" if snapshot.stands_by else "active"}
            return Response(json.dumps(body) + "\n", status, content_type="application/json")
        if snapshot.ready:
            return text("vllm-monitor is ready.\n")
        return text("vllm-monitor has not finished its first round.\n", status)

    def active(self) -> Response:
        """Answer a load balancer: of several, only the one that tells is to be asked to."""
        if self._daemon.snapshot().stands_by:
            return text("vllm-monitor stands by.\n", 503)
        return text("vllm-monitor is active.\n")

    def reload(self) -> Response:
        mistakes = self._daemon.reload()
        return text(mistakes + "\n", 400) if mistakes else text("")

    def alerts(self) -> Response:
        return Answer(views.alerts(self._daemon.snapshot().groups)).response()

    def rules(self) -> Response:
        kind = request.args.get("type", "")
        if kind not in ("", "alert", "record"):
            raise invalid("type", f'not supported value "{kind}"')
        snapshot = self._daemon.snapshot()
        return Answer(views.rules(snapshot.groups, kind, snapshot.sight)).response()

    def targets(self) -> Response:
        state, pool = request.args.get("state", "").lower(), request.args.get("scrapePool", "")
        snapshot = self._daemon.snapshot()
        # As Prometheus: a state that is none is any.
        wanted = state if state in ("active", "dropped") else ""
        return Answer(views.targets(snapshot.loops, snapshot.found, wanted, pool)).response()

    def scrape_pools(self) -> Response:
        return Answer(views.scrape_pools(self._daemon.snapshot().found)).response()


def text(text: str, status: int = 200) -> Response:
    """Return a plain answer."""
    return Response(text, status=status, content_type="text/plain; charset=utf-8")
