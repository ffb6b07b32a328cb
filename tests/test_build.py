"""From a configuration to parts that are set as it says."""

from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.flags import Flags, from_flags
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE
from monitor.storage.window import Window


def test_a_subquery_without_a_step_has_the_evaluation_interval() -> None:
    builder = Builder(VirtualClock(MINUTE), Window(), Metrics(CollectorRegistry(), "test"))
    parts = builder.build(from_flags(Flags(targets=("127.0.0.1:1",)), {}))
    ((_, steps),) = parts.manager.context.query("count_over_time(vector(1)[1m:])", MINUTE)
    assert steps == 60_000 / parts.config.global_.evaluation_interval == 12
