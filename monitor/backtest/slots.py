"""Instant by instant: the very pipeline of the daemon. Slow, and right for whatever rules there are."""

from monitor.backtest.source import Feed
from monitor.backtest.stage import Stage
from monitor.model.instant import Instant
from monitor.replay import replay
from monitor.rules.group import Health


class BySlots:
    """Plays a history into a stage one slot after the other."""

    def __init__(self, stage: Stage, feed: Feed) -> None:
        self._stage = stage
        self._feed = feed

    def play(self, after: Instant, until: Instant) -> None:
        """Live through `(after, until]`. Raises SourceError."""
        stage = self._stage
        for slot in stage.slots(after, until):
            replay(stage.pipeline, stage.clock, [slot], self._feed.feed)
            self._look(slot)
        stage.look_for_data()

    def _look(self, slot: Instant) -> None:
        observer = self._stage.observer
        verdicts = {
            id(run): verdict
            for group in self._stage.manager.groups
            for run, verdict in zip(group.rules, group.verdicts, strict=True)
        }
        for rule in self._stage.rules:
            if slot % rule.group.interval:
                continue
            verdict = verdicts[id(rule.run)]
            if verdict.health is Health.ERR:
                observer.fail(rule.number, verdict.error)
            if rule.alert is not None:
                observer.look(rule.number, rule.alert.active)
