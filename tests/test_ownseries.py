"""The daemon's own metrics as its rules see them."""

from collections.abc import Collection

import pytest
from prometheus_client import CollectorRegistry

from monitor.embedded import WindowAppender
from monitor.metrics import Metrics
from monitor.model.instant import SECOND
from monitor.model.labels import METRIC_NAME
from monitor.model.matcher import equal
from monitor.ownseries import OwnSeries
from monitor.storage.window import Window

FAILED = "vllm_monitor_notifications_failed_total"


def written(wanted: Collection[str] | None) -> Window:
    """Return what stands in the window after a notification has failed between two evaluations."""
    registry, window = CollectorRegistry(), Window()
    metrics = Metrics(registry, "test")
    write = OwnSeries(registry, lambda: metrics.alerts.labels("firing").set(2), "m:9109").writer(
        WindowAppender(window), wanted
    )
    write(SECOND)
    metrics.notifications_failed.labels("slack", "unreachable").inc()
    write(2 * SECOND)
    return window


def test_a_counter_that_has_counted_nothing_yet_is_written_from_its_first_count_on() -> None:
    (column,) = written({FAILED, "up"}).select([equal(METRIC_NAME, FAILED)])
    assert str(column.labels) == (
        f'{FAILED}{{instance="m:9109", integration="slack", job="vllm-monitor", reason="unreachable"}}'
    )
    assert column.newest(0, 2 * SECOND) == (2 * SECOND, 1.0)


def test_gauges_that_are_computed_are_brought_up_to_date_first() -> None:
    (column,) = written({"vllm_monitor_alerts"}).select([equal(METRIC_NAME, "vllm_monitor_alerts")])
    assert column.newest(0, SECOND) == (SECOND, 2.0)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param({"up", "process_open_fds"}, set(), id="nothing of ours"),
        pytest.param({FAILED}, {FAILED}, id="one"),
        pytest.param(None, {FAILED, "vllm_monitor_alerts", "vllm_monitor_build_info"}, id="all"),
    ],
)
def test_only_what_rules_read_takes_up_room(wanted: Collection[str] | None, expected: set[str]) -> None:
    names = set(written(wanted).names())
    assert expected <= names
    assert wanted is None or names == expected
