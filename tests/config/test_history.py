"""What ships as kept: `rules/history.yaml`."""

import pytest

from monitor.config.history import HistoryConfig
from monitor.expressions import check_expr, check_template
from monitor.model.labels import METRIC_NAME, Labels
from monitor.model.matcher import Matcher
from monitor.rules.rulefmt import read_rules
from monitor.rules.spec import RecordingRule
from monitor.shipped import shipped_rules

SELECTORS = HistoryConfig().keep().selectors
RECORDED = {
    rule.name
    for group in read_rules(shipped_rules(), check_expr, check_template)
    for rule in group.rules
    if isinstance(rule, RecordingRule)
}
# What is no rule's: of the scrape, of the page, of the probes, of the alerts.
OTHERS = {
    "up",
    "ALERTS",
    "process_start_time_seconds",
    "scrape_duration_seconds",
    "vllm_monitor_config_last_reload_successful",
    "vllm_monitor_notifications_waiting",
    "vllm_monitor_rule_blind",
    "vllm_monitor_socket_mode_connected",
    "vllm_monitor_state_written",
    "vllm_monitor_target_health_up",
    "vllm_monitor_target_version_info",
}


@pytest.mark.parametrize("matchers", SELECTORS, ids=lambda matchers: " ".join(map(str, matchers)))
def test_every_selector_finds_something_that_the_daemon_writes(matchers: tuple[Matcher, ...]) -> None:
    names = RECORDED | OTHERS
    assert [name for name in names if all(one.accepts(Labels.of({METRIC_NAME: name})) for one in matchers)]
