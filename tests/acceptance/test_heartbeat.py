"""The dead man's switch of the daemon as a process: it falls silent when alerts would not come through."""

import re
from pathlib import Path

from monitor.simulator.server import SimulatedServer
from tests.acceptance.daemon import Daemon, daemon
from tests.notify.endpoint import Endpoint, endpoint
from tests.slackstub.faults import Answer
from tests.waiting import until

QUICK = "groups: [{name: quick, rules: [{alert: Always, expr: 'vector(1)'}]}]\n"
# Nothing that a machine is done with before the test is.
ENDLESS = "groups: [{name: endless, rules: [{record: r, expr: 'max_over_time(rate(up[1m])[30d:100ms])'}]}]\n"


def write(folder: Path, vllm: SimulatedServer, hook: Endpoint, beat: Endpoint, rules: str) -> str:
    path = folder / "monitor.yaml"
    (folder / "some.rules.yaml").write_text(rules)
    path.write_text(
        f"""\
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: vllm, static_configs: [{{targets: ["{vllm.url.removeprefix("http://")}"]}}]}}]
rule_files: ["*.rules.yaml"]
route: {{receiver: hook, group_wait: 0s, group_interval: 1s, repeat_interval: 1s}}
receivers: [{{name: hook, webhook_configs: [{{url: "{hook.url}"}}]}}]
heartbeat: {{url: "{beat.url}", interval: 1s, stuck_after: 3s}}
web: {{listen: "127.0.0.1:0"}}
"""
    )
    return str(path)


def metric(ours: Daemon, name: str) -> float:
    found = re.search(rf"^vllm_monitor_{re.escape(name)} (\S+)$", ours.get("/metrics"), re.MULTILINE)
    return float(found[1]) if found else 0.0


def falls_silent(ours: Daemon, beat: Endpoint, why: str) -> None:
    """Wait until signs of life are withheld from now on, and see that none comes any more."""
    name = f'heartbeats_withheld_total{{reason="{why}"}}'
    before = metric(ours, name)
    until(lambda: metric(ours, name) > before, within=25)
    # The last one may still be on its way.
    until(lambda: len(beat.requests) == metric(ours, "heartbeats_total"), within=25)
    count = len(beat.requests)
    until(lambda: metric(ours, name) >= before + 4, within=25)
    assert len(beat.requests) == count
    assert "no heartbeat" in ours.log


def test_it_stops_while_a_receiver_cannot_be_told_and_goes_on_when_it_can(
    tmp_path: Path, vllm: SimulatedServer
) -> None:
    down = [True]
    with (
        endpoint(lambda _: Answer(503 if down else 200)) as hook,
        endpoint() as beat,
        daemon(tmp_path, "--config", write(tmp_path, vllm, hook, beat, QUICK)) as ours,
    ):
        until(lambda: beat.requests, within=30)
        falls_silent(ours, beat, "not_telling")
        down.clear()
        count = len(beat.requests)
        until(lambda: len(beat.requests) > count, within=30)
        assert beat.url not in ours.log + ours.get("/metrics")


def test_it_stops_when_the_rules_are_not_evaluated_any_more(tmp_path: Path, vllm: SimulatedServer) -> None:
    with (
        endpoint() as hook,
        endpoint() as beat,
        daemon(tmp_path, "--config", write(tmp_path, vllm, hook, beat, QUICK)) as ours,
    ):
        until(lambda: beat.requests, within=30)
        write(tmp_path, vllm, hook, beat, ENDLESS)
        assert ours.post("/-/reload") == (200, "")
        falls_silent(ours, beat, "no_evaluations")
        # The receivers are told as well, although no rule can say it.
        until(lambda: any("VLLMMonitorStalled" in one.body.decode() for one in hook.requests), within=30)
