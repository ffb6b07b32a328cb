"""From a configuration to parts that are set as it says."""

import pytest
from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.flags import Flags, from_flags
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE
from monitor.rules.errors import RuleError
from monitor.storage.window import Window


def test_a_subquery_without_a_step_has_the_evaluation_interval() -> None:
    builder = Builder(VirtualClock(MINUTE), Window(), Metrics(CollectorRegistry(), "test"))
    parts = builder.build(from_flags(Flags(targets=("127.0.0.1:1",)), {}))
    ((_, steps),) = parts.manager.context.query("count_over_time(vector(1)[1m:])", MINUTE)
    assert steps == 60_000 / parts.config.global_.evaluation_interval == 12


def test_a_rule_that_keeps_all_others_waiting_fails() -> None:
    builder = Builder(VirtualClock(MINUTE), Window(), Metrics(CollectorRegistry(), "test"))
    parts = builder.build(from_flags(Flags(targets=("127.0.0.1:1",)), {}))
    with pytest.raises(RuleError):
        parts.manager.context.query("max_over_time(max_over_time(vector(1)[3h:1s])[3h:1s])", MINUTE)
