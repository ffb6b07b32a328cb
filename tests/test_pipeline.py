"""The steps of the pipeline, when two are taken at once."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.dispatch.dispatcher import Dispatcher, Flush
from monitor.metrics import Metrics
from monitor.model.alert import Alert
from monitor.model.instant import MINUTE, Instant
from monitor.rules.manager import AlertKey, Kept
from monitor.storage.window import Window

CONFIG = """\
scrape_configs: [{job_name: vllm, static_configs: [{targets: ["127.0.0.1:1"]}]}]
rule_files: [own.rules.yaml]
route: {receiver: nobody, group_wait: 0s}
receivers: [{name: nobody, console_configs: [{}]}]
"""
RULES = """\
groups: [{name: own, rules: [{alert: Always, expr: vector(1)}]}]
"""


@dataclass
class NotingJournal:
    """Notes for each commit how many alerts and how many letters it keeps."""

    commits: list[tuple[int, int]] = field(default_factory=list)

    def commit(self, changed: Sequence[Kept], gone: Sequence[AlertKey], flush: Flush, evaluated: Instant = 0) -> None:
        del gone, evaluated
        self.commits.append((len(changed), len(flush.deliveries)))


class InterruptedDispatcher(Dispatcher):
    """Something else happens right after alerts came in."""

    interrupt: Callable[[], None] = staticmethod(lambda: None)

    def insert(self, alerts: Iterable[Alert], now: Instant, *, timeout: bool = False) -> None:
        super().insert(alerts, now, timeout=timeout)
        self.interrupt()


def test_an_alert_and_what_is_said_of_it_are_kept_together_whenever_a_timer_flushes(tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    (tmp_path / "own.rules.yaml").write_text(RULES)
    config = load(tmp_path / "monitor.yaml")
    builder = Builder(VirtualClock(MINUTE), Window(), Metrics(CollectorRegistry(), "test"))
    parts = builder.build(config)
    dispatcher = InterruptedDispatcher(config.route, parts.integrations)
    journal = NotingJournal()
    pipeline = replace(builder.assemble(parts, dispatcher, lambda _: None), journal=journal)
    timer = threading.Thread(target=pipeline.tell)

    def flush() -> None:
        timer.start()
        timer.join(0.3)

    dispatcher.interrupt = flush
    pipeline.evaluate(MINUTE, None)
    timer.join(60)
    assert journal.commits == [(1, 1), (0, 0)]
