"""What the daemon counts."""

from dataclasses import replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.flags import Flags, from_flags
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, SECOND
from monitor.pipeline import Pipeline
from monitor.replay import replay
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
