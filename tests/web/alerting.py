"""Dispatch behind Alertmanager's API, without the rest of the daemon."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask

from monitor.clock import Clock, VirtualClock
from monitor.config.alertmanager import as_alertmanager
from monitor.config.read import load
from monitor.dispatch.alerting import Alerting
from monitor.dispatch.dispatcher import Dispatcher, Integration
from monitor.dispatch.inhibit import Inhibitor
from monitor.dispatch.muting import Muting
from monitor.dispatch.silence import Silences
from monitor.dispatch.store import AlertStore
from monitor.model.instant import Instant
from monitor.web.alertmanager import AlertmanagerApi
from tests.web.serving import listening

# 2026-11-30 06:05:05 UTC
NOW: Instant = 1_796_018_705_000
VERSION = "1.2.3"


@dataclass
class FakeDaemon:
    """Has the dispatch of a configuration file, and nothing else."""

    path: Path
    clock: Clock = field(default_factory=lambda: VirtualClock(NOW))
    silences: Silences = field(default_factory=Silences)
    limited: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = load(self.path)
        store = AlertStore()
        muting = Muting(Inhibitor(config.inhibit_rules, store), config.time_intervals, self.silences)
        receivers = {one.name: [Integration(one.name, send_resolved=True)] for one in config.receivers}
        self.dispatcher = Dispatcher(config.route, receivers, muting.stages, store=store)
        self._alerting = Alerting(
            self.dispatcher,
            store,
            muting,
            config.route,
            tuple(receivers),
            config.global_.resolve_timeout,
            lambda: as_alertmanager(config),
            lambda: None,
        )

    def alerting(self) -> Alerting | None:
        return self._alerting

    def application(self) -> Flask:
        app = Flask("test", static_folder=None)
        api = AlertmanagerApi(
            self, self.clock, self.clock.now(), VERSION, lambda kind, count: self.limited.append((kind, count))
        )
        app.register_blueprint(api.blueprint())
        return app


@contextmanager
def served(daemon: FakeDaemon) -> Iterator[str]:
    """Serve the API on the loopback; yields its URL."""
    with listening(daemon.application()) as server:
        yield f"http://127.0.0.1:{server.port}"
