"""What the daemon counts."""

from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.flags import Flags, from_flags
from monitor.dispatch.dispatcher import Delivery
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.dispatch.silence import Silence, Silences
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, SECOND
from monitor.model.labels import Labels
from monitor.model.matcher import equal
from monitor.notify.letter import Attempt
from monitor.pipeline import Pipeline
from monitor.replay import replay
from monitor.reporting import refresh, report
from monitor.storage.window import Window

# The last rule of the first group fails: two elements on its right side match one on its left.
RULES = """\
groups:
  - name: often
    rules:
      - {record: a, expr: "1"}
      - {record: b, expr: "2"}
      - {record: c, expr: 'a + on() {__name__=~"a|b"}'}
  - name: rarely
    interval: 10s
    rules:
      - {record: d, expr: "1"}
"""


def pipeline(folder: Path, clock: VirtualClock, registry: CollectorRegistry) -> Pipeline:
    (folder / "x.rules.yaml").write_text(RULES)
    config = from_flags(Flags(targets=("127.0.0.1:1",)), {})
    config = replace(config, scrape_configs=(), rule_files=(folder / "x.rules.yaml",))
    builder = Builder(clock, Window(), Metrics(registry, "test"))
    parts = builder.build(config)
    return builder.assemble(parts, Dispatching(config, parts.integrations).dispatcher, lambda _: None)


def test_each_rule_is_counted_once_an_evaluation_whatever_other_groups_are_due(tmp_path: Path) -> None:
    registry, clock = CollectorRegistry(), VirtualClock(MINUTE)
    slots = range(MINUTE, MINUTE + 20 * SECOND, 5 * SECOND)
    replay(pipeline(tmp_path, clock, registry), clock, slots)
    counted = {
        (kind, group): registry.get_sample_value(f"vllm_monitor_rule_{kind}_total", {"group": group})
        for kind in ("evaluations", "evaluation_failures")
        for group in ("often", "rarely")
    }
    assert counted == {
        ("evaluations", "often"): 12,
        ("evaluations", "rarely"): 2,
        ("evaluation_failures", "often"): 4,
        ("evaluation_failures", "rarely"): 0,
    }


def waiting(registry: CollectorRegistry) -> dict[str, float]:
    return {
        sample.labels["integration"]: sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == "vllm_monitor_notifications_waiting"
    }


def test_what_waits_is_shown_for_each_integration_and_not_for_one_that_is_gone() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, "test")
    metrics.show_waiting({"oncall/slack[0]": 2, "pager/slack[0]": 0})
    assert waiting(registry) == {"oncall/slack[0]": 2, "pager/slack[0]": 0}
    metrics.show_waiting({"pager/slack[0]": 1})
    assert waiting(registry) == {"pager/slack[0]": 1}


@pytest.mark.parametrize(
    ("hopeless", "dropped"), [pytest.param(True, 1, id="given up"), pytest.param(False, 0, id="to be tried again")]
)
def test_a_notification_that_is_given_up_is_counted_from_nought(*, hopeless: bool, dropped: int) -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, "test")
    metrics.show_waiting({"oncall/slack[0]": 1})
    given_up = ("vllm_monitor_notifications_dropped_total", {"integration": "oncall/slack[0]"})
    assert registry.get_sample_value(*given_up) == 0
    notification = Notification("oncall", "{}", Labels(), (), MINUTE, Reason.FIRST)
    error = NotifyError("invalid_blocks", reason="message", retryable=False, hopeless=hopeless)
    report(metrics, Attempt(Delivery("oncall/slack[0]", notification), error, 1))
    assert registry.get_sample_value(*given_up) == dropped


def test_silences_are_counted_by_state(tmp_path: Path) -> None:
    def silence(number: int, starts_at: int, ends_at: int) -> Silence:
        return Silence(str(number), (equal("a", "b"),), starts_at, ends_at, "me", "why")

    registry, clock = CollectorRegistry(), VirtualClock(10)
    daemon = pipeline(tmp_path, clock, registry)
    silences = Silences([silence(1, 0, 20), silence(2, 5, 30), silence(3, 15, 20), silence(4, 0, 10)])
    refresh(daemon.metrics, daemon, silences, state_written=True)
    states = {"active": 2, "pending": 1, "expired": 1}
    assert {state: registry.get_sample_value("vllm_monitor_silences", {"state": state}) for state in states} == states
