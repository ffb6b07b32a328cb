"""A server is upgraded under a rule that reads a name which is no more: one alert says so."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.flags import Flags, from_flags
from monitor.dispatching import Dispatching
from monitor.metrics import Metrics
from monitor.model.instant import MINUTE, SECOND
from monitor.ownseries import OwnSeries
from monitor.pipeline import Pipeline
from monitor.replay import replay
from monitor.rules.alerting_rule import AlertingRuleRun
from monitor.scrape.target import ScrapeLoop
from monitor.sight.blindness import Blindness
from monitor.storage.window import Window
from monitor.web import views
from tests.scrape.wire import Served, page, serving
from tests.vllm.pages import page as vllm_page

START = 1_700_000_000_000 // MINUTE * MINUTE
RULES = """
groups:
  - name: public
    rules:
      - record: kv
        expr: vllm:gpu_cache_usage_perc
      - alert: KVCacheFull
        expr: kv > 0.9
      - alert: Adapters
        expr: vllm:lora_requests_info > 0
      - alert: Blind
        expr: count by (job, instance) (vllm_monitor_rule_blind) > 0
        for: 1m
"""


@dataclass
class World:
    """A server whose page may change, and a daemon's pipeline in front of it on a clock that is moved."""

    folder: Path
    version: str = "0.9.2"
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))

    def answer(self, served: Served, connection: socket.socket) -> bool:
        return page(vllm_page(self.version).encode())(served, connection)

    def pipeline(self, port: int) -> Pipeline:
        (self.folder / "public.rules.yaml").write_text(RULES)
        config = from_flags(Flags(targets=(f"127.0.0.1:{port}",)), {})
        config = replace(config, rule_files=(self.folder / "public.rules.yaml",))
        registry = CollectorRegistry()
        builder = Builder(self.clock, Window(), Metrics(registry, "test"), watches=True)
        parts = builder.build(config)
        registry.register(Blindness(lambda: parts.watch.sight.unexplained if parts.watch else ()))
        own = OwnSeries(registry, lambda: None, "127.0.0.1:9109")
        dispatcher = Dispatching(config, parts.integrations).dispatcher
        return builder.assemble(parts, dispatcher, lambda _: None, own=own)

    def minutes(self, pipeline: Pipeline, count: int) -> None:
        replay(pipeline, self.clock, range(self.clock.at + SECOND, self.clock.at + count * MINUTE + 1, SECOND))


def shown(pipeline: Pipeline) -> Mapping[str, Any]:
    assert pipeline.watch is not None
    answer = views.rules(pipeline.manager.groups, sight=pipeline.watch.sight)
    return {rule["name"]: rule["sight"] for rule in answer["groups"][0]["rules"]}


def alert(pipeline: Pipeline) -> AlertingRuleRun:
    return pipeline.manager.groups[0].alerting[-1]


def test_a_rule_that_an_upgrade_made_blind_is_told_of(tmp_path: Path) -> None:
    world = World(tmp_path)
    with serving(world.answer) as served:
        pipeline = world.pipeline(served.port)
        loop: ScrapeLoop = pipeline.loops[0]
        world.minutes(pipeline, 2)
        assert {name: sight["health"] for name, sight in shown(pipeline).items()} == {
            "kv": "ok",
            "KVCacheFull": "ok",
            "Adapters": "nodata",
            "Blind": "ok",
        }
        world.version = "0.33.0"
        world.minutes(pipeline, 8)
        assert {name: sight["health"] for name, sight in shown(pipeline).items()} == {
            "kv": "nodata",
            "KVCacheFull": "nodata",
            "Adapters": "nodata",
            "Blind": "firing",
        }
        (blind,) = shown(pipeline)["KVCacheFull"]["blind"]
        assert blind == {
            "job": "vllm",
            "instance": f"127.0.0.1:{served.port}",
            "reason": "renamed",
            "explained": False,
            "message": "`vllm:gpu_cache_usage_perc` left in 0.12.0; running about 0.32.0, by its page; "
            "read `vllm:kv_cache_usage_perc`",
        }
        (told,) = alert(pipeline).active.values()
        assert (told.labels.value("instance"), told.value) == (f"127.0.0.1:{served.port}", 2.0)
        loop.close()


def test_what_the_configuration_explains_is_no_alert(tmp_path: Path) -> None:
    world = World(tmp_path)
    with serving(world.answer) as served:
        pipeline = world.pipeline(served.port)
        world.minutes(pipeline, 3)
        (adapters,) = shown(pipeline)["Adapters"]["blind"]
        assert (adapters["reason"], adapters["explained"]) == ("condition", True)
        assert alert(pipeline).active == {}
        pipeline.loops[0].close()
