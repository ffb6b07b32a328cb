"""From a configuration and a history to an outcome: the daemon's rules and routes, played."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from prometheus_client import CollectorRegistry

from monitor import __version__
from monitor.backtest.columnar import Columnar
from monitor.backtest.order import NoOrderError
from monitor.backtest.outcome import Outcome
from monitor.backtest.slots import BySlots
from monitor.backtest.source import UP, Feed, Period
from monitor.backtest.stage import Stage
from monitor.build import RULE_LIMITS, rule_groups
from monitor.clock import VirtualClock, monotonic_seconds
from monitor.config.config import Config
from monitor.dispatch.dispatcher import Integration
from monitor.dispatching import Dispatching
from monitor.embedded import EmbeddedQuery, WindowAppender, keep, spelled_names, wanted_names
from monitor.expressions import expressions_of
from monitor.metrics import Metrics
from monitor.model.instant import DAY, HOUR, MINUTE, Duration, Instant
from monitor.model.labels import EMPTY
from monitor.notify.slack.workspace import Workspace
from monitor.promql import Engine
from monitor.receivers import receivers_of
from monitor.rules.alerting_rule import ALERTS, ALERTS_FOR_STATE
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.spec import AlertingRule, RuleGroup
from monitor.storage.window import Window

# So many values of the window's series at most are looked at in one go.
_MOST_AT_ONCE = 1_500_000
_FIRST, _SHORTEST, _LONGEST = HOUR, 15 * MINUTE, DAY


class History(Protocol):
    """Something that can be played."""

    def feed(self, window: Window, names: frozenset[str] | None, period: Period, *, by_slots: bool) -> Feed:
        """Return what writes the series of these names (None: all) into the window."""
        ...


# Is told how far a backtest has come.
Watcher = Callable[[Instant], None]


@dataclass(frozen=True, slots=True)
class Played:
    """An outcome, and why it took longer than it might have ("" when it did not)."""

    outcome: Outcome
    slow: str = ""


def play(config: Config, history: History, period: Period, watcher: Watcher, *, by_slots: bool = False) -> Played:
    """
    Play a period of a history. With `by_slots` instant by instant, whatever the rules are.

    Raises DocumentError for rule files that are wrong, and SourceError.
    """
    specs = tuple(_without_texts(spec) for spec in rule_groups(config))
    stage = _stage(config, specs, period)
    feed = history.feed(stage.window, _read_names(specs), period, by_slots=by_slots)
    feed.leave_out(_recorded_names(specs) | {ALERTS, ALERTS_FOR_STATE})
    try:
        player = BySlots(stage, feed) if by_slots else Columnar(stage, feed)
    except NoOrderError as err:
        return replace(play(config, history, period, watcher, by_slots=True), slow=str(err))
    _through(player.play, stage, period, watcher)
    return Played(stage.outcome(Outcome(period.start, period.end, period.interval)))


def window_of(config: Config, history: History, period: Period) -> Window:
    """
    Return the window after a period that was played instant by instant, with everything in it.

    Raises DocumentError and SourceError.
    """
    specs = tuple(_without_texts(spec) for spec in rule_groups(config))
    stage = _stage(config, specs, period)
    keep(stage.window, _expressions(specs), period.end - period.start + HOUR)
    feed = history.feed(stage.window, _read_names(specs), period, by_slots=True)
    BySlots(stage, feed).play(period.start - 1, period.end)
    return stage.window


def _through(play_part: Callable[[Instant, Instant], None], stage: Stage, period: Period, watcher: Watcher) -> None:
    at, length = period.start - 1, _FIRST
    while at < period.end:
        until = min(at + length, period.end)
        play_part(at, until)
        at = until
        watcher(at)
        series = max(stage.window.size()[0], 1)
        length = min(max(_MOST_AT_ONCE // series * period.interval, _SHORTEST), _LONGEST)


def _stage(config: Config, specs: tuple[RuleGroup, ...], period: Period) -> Stage:
    window, clock = Window(), VirtualClock(period.start)
    keep(window, _expressions(specs), 0)
    engine = Engine(window, limits=RULE_LIMITS, default_subquery_step=period.interval)
    query, appender = EmbeddedQuery(engine), WindowAppender(window)
    context = Context(query, appender, config.global_.external_labels, config.web.external_url, reads=spelled_names)
    manager = Manager(specs, context, period.interval, monotonic_seconds)
    integrations, _ = receivers_of(config, None, Workspace(clock.now))
    # What is edited as its numbers move is no further message.
    told = {
        receiver: [Integration(one.name, one.send_resolved) for one in some] for receiver, some in integrations.items()
    }
    dispatcher = Dispatching(config, told).dispatcher
    metrics = Metrics(CollectorRegistry(), __version__)
    return Stage.of(clock, window, engine, manager, (dispatcher, told), metrics)


def names_of(config: Config) -> frozenset[str] | None:
    """
    Return the names of the series that the rules read but do not record; None when one does not spell them out.

    Raises DocumentError.
    """
    return _read_names(rule_groups(config))


def _read_names(specs: Sequence[RuleGroup]) -> frozenset[str] | None:
    names = wanted_names(_expressions(specs))
    return None if names is None else names - _recorded_names(specs) | {UP}


def _recorded_names(specs: Iterable[RuleGroup]) -> set[str]:
    return {rule.name for spec in specs for rule in spec.rules if not isinstance(rule, AlertingRule)}


def _expressions(specs: Iterable[RuleGroup]) -> list[str]:
    return [expr for spec in specs for rule in spec.rules for expr in expressions_of(rule)]


def _without_texts(spec: RuleGroup) -> RuleGroup:
    """Return the group without annotations: nobody reads them here, and they take most of the time of an alert."""
    rules = [replace(rule, annotations=EMPTY) if isinstance(rule, AlertingRule) else rule for rule in spec.rules]
    return replace(spec, rules=tuple(rules))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a history that is asked for; None leaves it to the history."""

    start: Instant | None = None
    end: Instant | None = None
    interval: Duration | None = None

    def of(self, period: Period) -> Period:
        """Return the part of a period that is asked for."""
        interval = self.interval or period.interval
        end = period.end if self.end is None else min(self.end, period.end)
        start = period.start if self.start is None else max(self.start, period.start)
        return Period(start, end - end % interval, interval)
