"""The HTTP side as the daemon serves it, over a window that the test fills."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests
from flask import Flask
from prometheus_client import CollectorRegistry

from monitor.clock import VirtualClock
from monitor.model.instant import Duration, Instant
from monitor.model.labels import Labels
from monitor.promql import Engine, Limits
from monitor.rules.group import Group
from monitor.scrape.target import ScrapeLoop
from monitor.storage.window import Window
from monitor.web.application import Guarding, create_app
from monitor.web.federate import Federation
from monitor.web.gate import Gate
from monitor.web.information import Information
from monitor.web.queries import MOST_SAMPLES, Engines, Queries
from monitor.web.routes import Routes, Snapshot
from monitor.web.server import Server
from monitor.web.tls import TlsFiles
from tests.waiting import until

NOW: Instant = 1_700_000_600_000
EXTERNAL_LABELS = Labels.of({"cluster": "eu", "job": "theirs"})


@dataclass
class StandIn:
    """A daemon that consists of what it is given."""

    loops: list[ScrapeLoop] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    mistakes: str = ""

    def snapshot(self) -> Snapshot:
        return Snapshot(self.groups, self.loops, ready=True)

    def reload(self) -> str:
        return self.mistakes


@dataclass(frozen=True)
class Served:
    url: str
    inner: str = ""

    def get(self, path: str, **parameters: Any) -> requests.Response:
        return requests.get(self.url + path, params=parameters, timeout=60)

    def data(self, path: str, **parameters: Any) -> Any:
        return self.get(path, **parameters).json()["data"]


@contextmanager
def listening(app: Flask, tls: TlsFiles | None = None) -> Iterator[Server]:
    """Serve the application on a loopback port, until nothing of it is at work any more."""
    server = Server(app, "127.0.0.1", 0, tls)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        # It waits for no request that lasts; what that says when it ends is not for the next test.
        until(lambda: not server._thread.is_alive(), within=5)


@contextmanager
def serve(
    window: Window,
    daemon: StandIn | None = None,
    engines: Engines | None = None,
    gate: Gate | None = None,
    guarding: Guarding | None = None,
    *,
    tls: TlsFiles | None = None,
    now: Instant = NOW,
) -> Iterator[Served]:
    """Serve `window` at `now` on a loopback port."""

    def engine(lookback: Duration, seconds: float) -> Engine:
        return Engine(window, lookback=lookback, limits=Limits(points=MOST_SAMPLES, seconds=seconds))

    clock, daemon = VirtualClock(now), daemon or StandIn()
    routes = Routes(daemon, CollectorRegistry(), lambda: None)
    queries = Queries(window, engines or engine, clock, gate or Gate())
    information = Information(daemon, window, clock, "0.0.test", now)
    federation = Federation(window, clock, lambda: EXTERNAL_LABELS, queries.gate).blueprint()
    app = create_app(routes, queries, information, federation, guarding=guarding or Guarding())
    with listening(app, tls) as server:
        yield Served(f"{'http' if tls is None else 'https'}://127.0.0.1:{server.port}", str(server.inner or ""))
