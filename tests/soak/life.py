"""A daemon without threads on a clock that is moved: started, reloaded and ended as the real one is."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.build import Builder, Parts
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.notification import Notification, NotifyError
from monitor.dispatch.silence import Silence
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.model.instant import HOUR, Duration
from monitor.model.matcher import Matcher, MatchType
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.pool import Members
from monitor.reporting import refresh, report
from monitor.scrape.target import ScrapeLoop
from monitor.state import State
from monitor.storage.window import Window
from tests.soak.fleet import Fleet


@dataclass
class CountingReceiver:
    """Takes a message, and every tenth time is not there; keeps nothing."""

    asked: int = 0
    delivered: int = 0

    def notify(self, notification: Notification) -> None:
        del notification
        self.asked += 1
        if self.asked % 10 == 0:
            raise NotifyError("nobody home", reason="unreachable", retryable=True)
        self.delivered += 1


@dataclass
class Life:
    """One life of the daemon, from a start to an end; `receiver` is told in the place of the configured ones."""

    config: Path
    clock: VirtualClock
    fleet: Fleet
    receiver: CountingReceiver
    window: Window = field(default_factory=Window)

    def __post_init__(self) -> None:
        registry = CollectorRegistry()
        self.metrics = Metrics(registry, "soak")
        self._builder = Builder(self.clock, self.window, self.metrics)
        self._own = OwnSeries(registry, self._refresh, "soak")
        self.parts = self._build(None)
        self.state = State.open(self.parts.config.storage.path, self.clock, self.metrics)
        self.silences = self.state.silences
        self._dispatching = Dispatching(self.parts.config, self.parts.integrations, self.state.log, self.silences)
        self.pipeline = self._assemble()
        self.state.restore(self.pipeline, self.clock.now())

    def reload(self) -> None:
        """Go over to what the configuration says now."""
        now, old, before = self.clock.now(), self.parts, self.pipeline
        self.parts = self._build(old)
        self._dispatching.dispatcher.insert(self.parts.manager.take_over(old.manager, now), now)
        self._dispatching.reconfigure(self.parts.config, self.parts.integrations, now)
        self.pipeline = self._assemble()
        self.pipeline.outbox.take_over(before.outbox)
        self.parts.appender.retire(self.parts.appender.owners - self.parts.manager.owners, now)

    def save(self) -> None:
        self.state.save_window(self.window, self.clock.now())

    def end(self) -> None:
        self.save()
        self.state.close()

    def silence(self, instance: str, duration: Duration = HOUR) -> None:
        now = self.clock.now()
        matcher = Matcher("instance", MatchType.EQUAL, instance)
        self.silences.set(Silence("", (matcher,), now, now + duration, "soak", "now and then"), now)

    def _build(self, old: Parts | None) -> Parts:
        parts = self._builder.build(load(self.config), old)
        known = old.loops if old is not None else {}
        loops = {
            key: known.get(key) or ScrapeLoop(*key, self.window, self.fleet.fetch(number))
            for number, key in enumerate(parts.loops)
        }
        parts.pool.members = Members(loops)
        return replace(parts, notifiers=dict.fromkeys(parts.notifiers, self.receiver))

    def _assemble(self) -> Pipeline:
        told = partial(report, self.metrics)
        self.state.history.keep = self.parts.keep
        return self._builder.assemble(self.parts, self._dispatching.dispatcher, told, self.state.journal, self._own)

    def _refresh(self) -> None:
        refresh(self.metrics, self.pipeline, self.state.silences, state_written=self.state.journal.is_written)
