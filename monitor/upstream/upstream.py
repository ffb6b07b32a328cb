"""The Prometheus of one configuration: everything that speaks with it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from monitor.clock import Clock, boot_milliseconds
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.promql import Evaluator
from monitor.remote.client import Client
from monitor.remote.engine import RemoteEngine
from monitor.remote.errors import Reason
from monitor.remote.options import RemoteOptions
from monitor.rules.context import Query
from monitor.rules.spec import RuleGroup
from monitor.upstream.clock import ClockOffset
from monitor.upstream.emptiness import Emptiness
from monitor.upstream.outage import Outage
from monitor.upstream.query import Local, UpstreamQuery
from monitor.upstream.recorded import RecordedWatch
from monitor.upstream.routed import RoutedEngine
from monitor.upstream.served import ServedTarget, ServedTargets
from monitor.upstream.split import Expressions, Split, split
from monitor.upstreammetrics import UpstreamMetrics

REASONS = tuple(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class Settings:
    """
    What the configuration says; `instance` is where the daemon listens.

    With `clock` the difference between that and the clock of Prometheus is made up for. `wait` lets seconds pass
    before another attempt.
    """

    options: RemoteOptions
    instance: str
    is_strict: bool = False
    clock: Clock | None = None
    wait: Callable[[float], object] | None = None


class Upstream:
    """At rest until it is asked. `local` answers what reads only the daemon's `own` series, by their names."""

    def __init__(
        self,
        settings: Settings,
        groups: Sequence[RuleGroup],
        own: Iterable[str],
        expressions: Expressions,
        local: Query,
        metrics: UpstreamMetrics,
    ) -> None:
        self.split: Split = split(groups, own, expressions)
        self._clock = ClockOffset(settings.clock, boot_milliseconds) if settings.clock is not None else None
        self._metrics = metrics
        dated = self._clock.dated if self._clock is not None else lambda _: None
        self.client = Client(settings.options, wait=settings.wait, dated=dated)
        self._outage = Outage(self.client.name, settings.instance)
        self.recorded = RecordedWatch(self.client, self.split.recorded, settings.instance)
        self._served = ServedTargets(self.client)
        self._emptiness = Emptiness(self.client.name, settings.instance, lambda: self._served.has_any)
        self.query = UpstreamQuery(
            self.client,
            Local(local, self.split.is_local),
            self._outage,
            metrics,
            is_strict=settings.is_strict,
            offset=self._offset,
        )

    @property
    def answered_at(self) -> Instant | None:
        """When an evaluation was last answered whole, None when none was."""
        return self._outage.answered_at

    def engine(self, local: Evaluator, seconds: float | None = None) -> Evaluator:
        """Return what evaluates the expressions of people, each within `seconds` (None: the timeout)."""
        return RoutedEngine(local, RemoteEngine(self.client, seconds), self.split.is_local)

    def alerts(self, at: Instant, interval: Duration | None = None) -> list[Alert]:
        """Return the alerts that no rule can raise, after the evaluation of the groups of `interval` at `at`."""
        found = [*self._outage.alerts(at, interval), *self.recorded.alerts(at)]
        if self.split.recorded:
            found += self._emptiness.alerts(at)
        self._metrics.up.set(not self._outage.is_down)
        self._metrics.missing.set(self.recorded.count)
        self._metrics.clock_offset.set(self._offset() / 1000)
        return found

    def look(self, at: Instant) -> None:
        """Look whether Prometheus records what alerts read, where that is not known. It may take its time."""
        self.recorded.look(at + self._offset())
        self._served.look(at + self._offset())

    @property
    def targets(self) -> tuple[ServedTarget, ...]:
        """The servers that it scrapes, as far as they have been looked at."""
        return self._served.targets

    def shift(self, by: Duration) -> None:
        """Our clock was set by so much."""
        self._outage.shift(by)
        self.recorded.shift(by)
        self._served.shift()
        self._emptiness.shift(by)

    def take_over(self, old: "Upstream") -> None:
        """Go on where the Prometheus of an older configuration stood."""
        self._outage.take_over(old._outage)  # noqa: SLF001 - the same class
        self.recorded.take_over(old.recorded)
        self._served.take_over(old._served)  # noqa: SLF001 - the same class
        self._emptiness.take_over(old._emptiness)  # noqa: SLF001 - the same class

    def is_another(self, old: "Upstream") -> bool:
        """Say whether `old` asks a server or a tenant that may have other series."""
        mine, theirs = self.client.options, old.client.options
        return (mine.url, mine.headers, mine.params) != (theirs.url, theirs.headers, theirs.params)

    def stop(self) -> None:
        """Ask nothing any more."""
        self.query.stop()

    def _offset(self) -> Duration:
        return self._clock.offset() if self._clock is not None else 0
