"""
A day at a time: each rule along a whole column of instants, and alerts looked at only where something becomes of them.

The same manager, rules and dispatcher as in life, and the same result as instant by instant, many times as fast. What
makes it so: an expression is evaluated by `Engine.frame`; and between two instants at which an alert's condition comes
or goes, or one of its times runs out, an evaluation changes nothing but its value and its texts.
"""

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush

from monitor.backtest.evaluate import found, write
from monitor.backtest.order import Member, in_order
from monitor.backtest.source import Feed
from monitor.backtest.stage import Stage
from monitor.backtest.watch import Watch
from monitor.model.alert import Alert
from monitor.model.instant import Duration, Instant
from monitor.promql.frame import Steps
from monitor.replay import catch_up
from monitor.rules.errors import RuleError
from monitor.storage.column import Block


class Columnar:
    """Plays a history into a stage. Raises NoOrderError for rules that must be evaluated instant by instant."""

    def __init__(self, stage: Stage, feed: Feed) -> None:
        self._stage = stage
        self._feed = feed
        self._ordered = in_order(stage.rules)
        self._watches = {rule.number: Watch(rule) for rule in stage.rules if rule.alert is not None}
        self._due: list[tuple[Instant, int]] = []

    def play(self, after: Instant, until: Instant) -> None:
        """Live through `(after, until]`. Raises SourceError."""
        stage = self._stage
        self._feed.feed(until)
        steps: dict[tuple[Duration, frozenset[Block]], Steps] = {}
        for rule in self._ordered:
            interval = rule.group.interval
            times = range((after // interval + 1) * interval, until + 1, interval)
            unseen = frozenset(stage.window.block(owner) for owner in rule.unseen)
            if times:
                self._evaluate(rule, steps.setdefault((interval, unseen), Steps(times, unseen)))
        self._live(until)
        stage.look_for_data()
        stage.window.prune(until)

    def _evaluate(self, rule: Member, steps: Steps) -> None:
        stage = self._stage
        result = found(stage.engine, stage.window, rule, steps)
        for why in result.failures.values():
            stage.observer.fail(rule.number, why)
        watch = self._watches.get(rule.number)
        if watch is None:
            write(stage.window.block(rule.owner), result)
            return
        for at in watch.take(result):
            heappush(self._due, (at, rule.number))

    def _live(self, until: Instant) -> None:
        """Let the alerts live through the instants at which something may become of them."""
        stage = self._stage
        while self._due and self._due[0][0] <= until:
            slot = self._due[0][0]
            numbers = set()
            while self._due and self._due[0][0] == slot:
                numbers.add(heappop(self._due)[1])
            catch_up(stage.pipeline, stage.clock, slot)
            self._step(slot, sorted(numbers))
        catch_up(stage.pipeline, stage.clock, until)
        # Whatever is due at the very end.
        self._step(until, ())

    def _step(self, slot: Instant, numbers: Sequence[int]) -> None:
        pipeline, rules = self._stage.pipeline, self._stage.rules
        alerts: defaultdict[Duration, list[Alert]] = defaultdict(list)
        for number in numbers:
            rule = rules[number]
            alerts[rule.group.interval] += self._move(rule, slot)
        for interval in sorted(alerts):
            pipeline.dispatcher.insert(alerts[interval], slot)
            pipeline.tell()
        pipeline.tell()
        pipeline.outbox.deliver_due(slot)

    def _move(self, rule: Member, slot: Instant) -> list[Alert]:
        watch, run = self._watches[rule.number], rule.alert
        assert run is not None  # noqa: S101 - only alerts are watched
        context = watch.context(self._stage.manager.context)
        try:
            run.evaluate(context, slot, slot)
        except RuleError as err:
            if not watch.failed_at(slot):
                self._stage.observer.fail(rule.number, str(err))
            return []
        self._stage.observer.look(rule.number, run.active)
        for due in watch.timers(slot):
            heappush(self._due, (due, rule.number))
        return run.alerts(context)
