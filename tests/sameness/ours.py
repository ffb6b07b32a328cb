"""The daemon: the shipped rules in its own window, and the same rules asked of a Prometheus."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry

from monitor.embedded import EmbeddedQuery, WindowAppender
from monitor.expressions import expressions_of
from monitor.model.instant import Instant
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import equal
from monitor.model.sample import is_stale
from monitor.ownnames import own_names
from monitor.probe.series import HELP as PROBED
from monitor.promql import Engine
from monitor.remote.options import RemoteOptions
from monitor.rules.alerting_rule import ALERTS, ALERTS_FOR_STATE
from monitor.rules.context import Context
from monitor.rules.manager import Manager
from monitor.rules.spec import RecordingRule
from monitor.storage.window import Window
from monitor.upstream.upstream import REASONS, Settings, Upstream
from monitor.upstreammetrics import UpstreamMetrics
from tests.sameness.history import STEP, History
from tests.sameness.moments import Moments, Standing, standing


class Embedded:
    """A daemon that has lived through a history; what it recorded stands in its window."""

    def __init__(self, history: History) -> None:
        self._window = Window(10**15)
        for labels, samples in history.samples():
            block = self._window.block(labels)
            column = block.column(labels)
            for at, value in samples:
                # A row without the series is its marker.
                columns = () if is_stale(value) else (column,)
                block.append(at, columns, [value] * len(columns))
        groups = history.groups()
        self._names = {rule.name for group in groups for rule in group.rules if isinstance(rule, RecordingRule)}
        query = EmbeddedQuery(Engine(self._window, default_subquery_step=STEP))
        manager = Manager(groups, Context(query, WindowAppender(self._window)), STEP, lambda: 0.0)
        self.moments: Moments = {slot: _evaluated(manager, slot) for slot in history.slots}

    def recorded(self) -> Iterator[tuple[Labels, list[tuple[int, float]]]]:
        """Yield the recorded series with their samples, staleness markers among them."""
        for name in sorted(self._names):
            for column in self._window.select((equal(METRIC_NAME, name),)):
                times, base = column.block.view
                values, first = column.view
                yield column.labels, list(zip(times[first - base :], values, strict=False))


@contextmanager
def asked(history: History, url: str) -> Iterator[Moments]:
    """Yield how alerts stand when the rules are asked of the server at `url`, which has raw and recorded series."""
    window, metrics = Window(10**15), UpstreamMetrics(CollectorRegistry(), REASONS)
    query = EmbeddedQuery(Engine(window))
    own = own_names() - PROBED.keys() | {ALERTS, ALERTS_FOR_STATE}
    upstream = Upstream(Settings(RemoteOptions(url), "ours"), history.groups(), own, expressions_of, query, metrics)
    context = Context(upstream.query, WindowAppender(window), ahead=upstream.query.ahead)
    manager = Manager(upstream.split.groups, context, STEP, lambda: 0.0)
    try:
        yield {slot: _evaluated(manager, slot) for slot in history.slots}
    finally:
        upstream.stop()


def _evaluated(manager: Manager, slot: Instant) -> dict[Labels, Standing]:
    # All groups at every step, whatever their interval: as promtool evaluates them.
    manager.evaluate(slot)
    return standing(manager)
