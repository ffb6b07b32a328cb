"""The daemon probes: what it finds stands beside the page's series, and nothing waits for it."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from monitor.app import App
from monitor.clock import SystemClock, monotonic_seconds
from monitor.config.read import load
from monitor.model.instant import HOUR, SECOND
from monitor.model.labels import Labels
from monitor.model.matcher import equal
from monitor.probe.client import Reply
from monitor.scrape.errors import Reason
from monitor.simulator.script import BadAnswer, Restart, Scenario, Server, Unreachable
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import PATIENCE, SOON
from tests.acceptance.in_a_row import InARow
from tests.probe.vllm import WELL, Replies, listed, paths, routed
from tests.scrape.wire import Served, serving
from tests.waiting import until

PAGE = Reply(200, b'vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="64"} 1\n', "text/plain")
ODD = 'a "quoted" model\nof two lines'
# Between two rounds, and how long one may take: a busy machine answers some of them late.
SHORT, LONG = "500ms", "2s"
FIRING = 'ALERTS{alertname="EngineDead",alertstate="firing"}'
RULES = """\
groups:
  - name: dead
    rules:
      - alert: EngineDead
        # One scrape that fails, because the machine had something else to do, is no end of the alert.
        expr: vllm_monitor_target_health{result="unavailable"} == 1 and on (instance) max_over_time(up[1m]) == 1
"""


def write(folder: Path, port: int, probe: str = "{}", job: str = "", interval: str = LONG) -> Path:
    (folder / "some.rules.yaml").write_text(RULES)
    path = folder / "monitor.yaml"
    path.write_text(
        f"""\
global: {{scrape_interval: {interval}}}
scrape_configs:
  - {{job_name: vllm, probe: {probe}, {job} static_configs: [{{targets: ["127.0.0.1:{port}"], labels: {{team: llm}}}}]}}
rule_files: ["*.rules.yaml"]
receivers: [{{name: nobody}}]
storage: {{path: {folder / "data"}}}
web: {{listen: "127.0.0.1:0"}}
"""
    )
    return path


class Ours:
    """A daemon in this process, asked over HTTP."""

    def __init__(self, app: App, url: str) -> None:
        self.app = app
        self.url = url

    def query(self, expr: str) -> dict[str, float]:
        """Return the values of a vector; a series is named by its labels but those of every target."""
        answer = requests.get(f"{self.url}/api/v1/query?query={quote(expr)}", timeout=PATIENCE).json()["data"]["result"]
        known = {"__name__", "job", "instance", "team"}
        return {
            ",".join(value for name, value in sorted(one["metric"].items()) if name not in known): float(
                one["value"][1]
            )
            for one in answer
        }

    def metrics(self) -> str:
        return requests.get(f"{self.url}/metrics", timeout=PATIENCE).text


def finds(ours: Ours, expr: str, expected: dict[str, float]) -> None:
    """Wait until a query finds this: at any time one question may fail, and then the next one counts."""
    until(lambda: ours.query(expr) == expected, within=30)


@contextmanager
def started(config: Path) -> Iterator[Ours]:
    app = App(lambda: load(config), SystemClock())
    port = app.start()
    try:
        yield Ours(app, f"http://127.0.0.1:{port}")
    finally:
        app.stop()


def test_what_the_page_does_not_say_stands_in_the_window_and_on_metrics(tmp_path: Path) -> None:
    replies: Replies = {**WELL, "/v1/models": Reply(200, listed(**{ODD: 8192})), "/metrics": PAGE}
    with serving(routed(lambda: replies)) as vllm, started(write(tmp_path, vllm.port)) as ours:
        finds(ours, "vllm_monitor_target_max_concurrency", {"0": 0.125})
        finds(ours, 'vllm_monitor_target_health{team="llm"} == 1', {"ok": 1})
        finds(ours, "vllm_monitor_target_version_info", {"0.32.0": 1})
        finds(ours, "vllm_monitor_target_max_model_len", {ODD: 8192})
        finds(ours, "vllm_monitor_target_server_load", {"": 5})
        finds(ours, "vllm_monitor_target_kv_cache_tokens", {"0": 1024})
        # It is on the loopback.
        assert ours.query("vllm_monitor_target_exposed") == {}
        told = f'{{instance="127.0.0.1:{vllm.port}",job="vllm",team="llm",version="0.32.0"}} 1.0'
        assert f"vllm_monitor_target_version_info{told}" in ours.metrics()
        families = {family.name: family for family in text_string_to_metric_families(ours.metrics())}
        assert [one.labels["model_name"] for one in families["vllm_monitor_target_max_model_len"].samples] == [ODD]
        assert re.search(r'vllm_monitor_probes_total\{job="vllm",probe="health"\} [1-9]', ours.metrics())


def test_a_dead_engine_behind_a_page_that_answers_is_an_alert_within_seconds(tmp_path: Path) -> None:
    replies: dict[str, Reply | Reason] = {**WELL, "/metrics": PAGE}
    with serving(routed(lambda: replies)) as vllm, started(config := write(tmp_path, vllm.port)) as ours:
        until(lambda: ours.query("vllm_monitor_target_health_up") == {"": 1}, within=30)
        began = monotonic_seconds()
        replies["/health"] = Reply(503)
        until(lambda: ours.query(FIRING), within=30)
        # Its version would be asked for five minutes later.
        assert monotonic_seconds() - began < 30
        ours.app.stop()
        with started(config) as again:
            until(lambda: requests.get(f"{again.url}/-/ready", timeout=PATIENCE).ok, within=30)
            # What the earlier life knew stands until somebody has asked anew.
            assert again.query(FIRING) == {"EngineDead,firing,unavailable": 1}
            until(lambda: again.query('vllm_monitor_probes_total{probe="health"} or vector(0)'), within=30)
            (ended,) = again.app._window.select([equal("__name__", "ALERTS")])
            assert ended.gaps == []


def test_a_probe_that_hangs_delays_no_scrape_and_no_rule(tmp_path: Path) -> None:
    replies: Replies = {**WELL, "/metrics": PAGE, "/health": Reason.TIMEOUT}
    with (
        serving(routed(lambda: replies)) as vllm,
        started(write(tmp_path, vllm.port, interval=SHORT)) as ours,
    ):
        finds(ours, 'vllm_monitor_target_health{result="timeout"}', {"timeout": 1})
        # Each round is as long as a slot: whoever waited for it would miss every second one.
        in_a_row = InARow(4)
        until(lambda: in_a_row.seen(ours.metrics()), within=30)
        assert ours.query("count_over_time(up[1h])")[""] >= 4
        asked = paths(vllm)
        # One round at a time.
        assert asked.count("/health") <= asked.count("/metrics") + 1


def test_probes_go_on_over_a_reload_and_end_with_the_target(tmp_path: Path) -> None:
    replies: Replies = {**WELL, "/metrics": PAGE}
    with serving(routed(lambda: replies)) as vllm, started(config := write(tmp_path, vllm.port)) as ours:
        until(lambda: ours.query("vllm_monitor_target_version_info"), within=30)
        write(tmp_path, vllm.port, "{load: {enabled: false}}")
        assert ours.app.reload() == ""
        until(lambda: not ours.query("vllm_monitor_target_server_load"), within=30)
        assert ours.query("vllm_monitor_target_health_up") == {"": 1}
        assert ours.query("vllm_monitor_target_version_info") == {"0.32.0": 1}
        config.write_text(config.read_text().replace(f"127.0.0.1:{vllm.port}", "127.0.0.1:1"))
        assert ours.app.reload() == ""
        until(lambda: ours.query('vllm_monitor_target_health{result="refused"}') == {"refused": 1}, within=30)
        assert f'instance="127.0.0.1:{vllm.port}"' not in ours.metrics()
        write(tmp_path, vllm.port, "{enabled: false}")
        assert ours.app.reload() == ""
        until(lambda: not ours.query('{__name__=~"vllm_monitor_target_.*"}'), within=30)
        asked = len(paths(vllm))
        until(lambda: len(paths(vllm)) > asked + 2, within=30)
        assert set(paths(vllm)[asked:]) == {"/metrics"}


def test_the_end_of_the_daemon_does_not_wait_for_a_probe(tmp_path: Path) -> None:
    def answer(served: Served, _: object) -> bool:
        served.stopping.wait(60)
        return False

    with serving(answer) as vllm:
        app = App(lambda: load(write(tmp_path, vllm.port, "{timeout: 60s}", interval="60s")), SystemClock())
        app.start()
        until(lambda: "/health" in paths(vllm), within=20)
        began = monotonic_seconds()
        app.stop()
        assert monotonic_seconds() - began < SOON
        vllm.stopping.set()


@pytest.fixture
def life() -> Iterator[SimulatedServer]:
    """A server with a key that a minute of its time ends, and that comes back as another version."""
    faults = (
        BadAnswer(at=20 * SECOND, duration=20 * SECOND, path="/health", status=503),
        Restart(at=60 * SECOND, duration=60 * SECOND, server=Server(version="0.33.0", max_model_len=1024)),
        Unreachable(at=180 * SECOND, duration=HOUR),
    )
    scenario = Scenario("probed", HOUR, Server(api_key="s3cr3t", enable_server_load_tracking=True), (), faults)
    with SimulatedServer(Simulator(scenario)) as server:
        yield server


def test_a_simulated_life_is_seen(tmp_path: Path, life: SimulatedServer) -> None:
    job = "authorization: {credentials: s3cr3t},"
    simulator, start = life.simulator, life.simulator.start
    canary = "{canary: {enabled: true, interval: 1s, timeout: 1s}}"
    with started(write(tmp_path, life.port, canary, job, SHORT)) as ours, running(simulator):
        until(lambda: ours.query("vllm_monitor_target_max_model_len") == {"tiny-llama": 512}, within=30)
        until(lambda: ours.query("vllm_monitor_target_canary_success") == {"": 1}, within=30)
        simulator.advance(start + 20 * SECOND)
        until(lambda: ours.query("vllm_monitor_target_health == 1") == {"unavailable": 1}, within=30)
        simulator.advance(start + 60 * SECOND)
        until(lambda: ours.query("vllm_monitor_target_health == 1") == {"refused": 1}, within=30)
        until(lambda: ours.query("vllm_monitor_target_version_info") == {}, within=30)
        until(lambda: ours.query("vllm_monitor_target_canary_success") == {"": 0}, within=30)
        simulator.advance(start + 120 * SECOND)
        until(lambda: ours.query("vllm_monitor_target_version_info") == {"0.33.0": 1}, within=30)
        until(lambda: ours.query("vllm_monitor_target_max_concurrency") == {"0": 3.125}, within=30)
        finds(ours, "vllm_monitor_target_health == 1", {"ok": 1})
        # What the next life of the daemon knows of this start, for the message of an incident.
        kept = tmp_path / "data" / "starts.json"
        until(lambda: kept.exists() and r"max_model_len 512 \u2192 1,024, vLLM 0.32.0" in kept.read_text(), within=30)
        fell = Labels.of(job="vllm", instance=f"127.0.0.1:{life.port}", alertname="VLLMMaxConcurrencyFell")
        (told,) = ours.app._builder.workspace.changes.before(fell, SystemClock().now())
        assert told.what == "max concurrency 6.25 → 3.12 (-50 %), max_model_len 512 → 1,024, vLLM 0.32.0 → 0.33.0"


@contextmanager
def running(simulator: Simulator) -> Iterator[None]:
    """Let the simulated time creep, so that requests come to their end."""
    stopping = threading.Event()

    def creep() -> None:
        while not stopping.wait(0.02):
            simulator.advance(simulator.now + 20)

    thread = threading.Thread(target=creep)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
