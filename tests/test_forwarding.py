"""Alerts go to Alertmanagers as Prometheus sends them, and none of them keeps anybody waiting."""

import json
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from monitor.build import Builder
from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.forwarding import BATCH, Forwarding, Line
from monitor.forwardmetrics import ForwardMetrics
from monitor.metrics import Metrics
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE, SECOND, Duration, Instant
from monitor.model.labels import Labels
from monitor.notify.alertmanager import Sendings, body
from monitor.notify.http import Address, HttpOptions
from monitor.notify.secret import Secret
from monitor.storage.window import Window
from tests.dispatch.alertmanager import Webhooks, webhooks
from tests.ports import silent_port
from tests.waiting import until

DATA = Path(__file__).parent / "data" / "alertmanager"
NOW: Instant = 1_796_040_000_000
CONFIG = """\
global: {external_labels: {cluster: eu-1, replica: a}, evaluation_interval: 1s}
rule_files: [sent.rules.yaml]
web: {external_url: "http://monitor.example:9090/"}
"""


def alert(name: str, ends_at: Instant | None = None) -> Alert:
    return Alert(Labels.of(alertname=name), Labels(), NOW, ends_at)


def in_order(sent: Iterable[Any]) -> list[Any]:
    return sorted(sent, key=lambda one: (one["at"], one["labels"]["alertname"]))


def test_what_is_sent_is_what_prometheus_sends_for_the_same_rules(tmp_path: Path) -> None:
    """
    The recording: Prometheus 3.5.3, an evaluation a second from the first alert's start on, resend delay 2 s.

    It began before Prometheus knew the Alertmanager.
    """
    recorded = json.loads((DATA / "sent_by_prometheus_3_5_3.json").read_text())
    (tmp_path / "sent.rules.yaml").write_text((DATA / "sent.rules.yaml").read_text())
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    clock, sendings, sent = VirtualClock(), Sendings(2 * SECOND), list[Any]()
    builder = Builder(clock, Window(), Metrics(CollectorRegistry(), "test"))
    manager = builder.build(load(tmp_path / "monitor.yaml")).manager

    def heard(alerts: Any, at: Instant, interval: Duration) -> None:
        due = sendings.due(alerts, at, interval)
        sent.extend({"at": at, **one} for one in json.loads(body(due, "http://monitor.example:9090")))

    manager.heard = heard
    first, last = recorded[0]["at"] - 5 * SECOND, recorded[-1]["at"]
    for at in range(first, last + 1, SECOND):
        manager.evaluate(at)
    assert in_order(one for one in sent if one["at"] >= recorded[0]["at"]) == in_order(recorded)


@pytest.mark.parametrize(
    ("interval", "sent", "lives"),
    [
        # Strictly later than the delay: so every second minute.
        pytest.param(MINUTE, [0, 2, 4], 4 * MINUTE, id="as often as the delay"),
        pytest.param(5 * SECOND, [0, 65, 130, 195], 4 * MINUTE, id="more often"),
        pytest.param(HOUR, [0, 1, 2], 4 * HOUR, id="more seldom"),
    ],
)
def test_what_fires_is_sent_again_and_outlives_three_losses(
    interval: Duration, sent: list[int], lives: Duration
) -> None:
    sendings, unit = Sendings(), MINUTE if interval == MINUTE else HOUR if interval == HOUR else SECOND
    slots = range(NOW, NOW + max(sent) * unit + 1, interval)
    found = {at: sendings.due([alert("A")], at, interval) for at in slots}
    assert [(at - NOW) // unit for at in slots if found[at]] == sent
    assert {one.ends_at - at for at, due in found.items() for one in due if one.ends_at} == {lives}


def test_an_end_is_told_at_once_and_again_and_keeps_its_date() -> None:
    sendings = Sendings()
    sendings.due([alert("A")], NOW, SECOND)
    over = alert("A", NOW + SECOND)
    assert sendings.due([over], NOW + SECOND, SECOND) == [over]
    assert sendings.due([over], NOW + 2 * SECOND, SECOND) == []
    assert sendings.due([over], NOW + 62 * SECOND, SECOND) == [over]


def test_of_more_than_there_is_room_for_the_newest_are_kept_and_the_rest_is_counted() -> None:
    registry = CollectorRegistry()
    with webhooks() as theirs:
        address = Address(Secret(f"{theirs.url}/x"))
        line = Line("am", address, ForwardMetrics(registry), capacity=100)
        line.put([alert(f"a{number:03}") for number in range(150)])
        line.start()
        line.finish()
        line.join(60)
        told = [one["labels"]["alertname"] for _, _, posted in theirs.posted for one in posted]
    assert told == [f"a{number:03}" for number in range(50, 150)]
    assert [len(posted) for _, _, posted in theirs.posted] == [64, 36]


def test_one_that_is_dead_delays_neither_the_others_nor_whoever_evaluates(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    with webhooks() as alive, silent_port() as port:
        dead = f"127.0.0.1:{port}"
        targets = f'["{dead}", "{alive.url.removeprefix("http://")}"]'
        (tmp_path / "monitor.yaml").write_text(
            f"rule_files: []\nalerting: {{alertmanagers: [{{static_configs: [{{targets: {targets}}}]}}]}}\n"
        )
        forwarding = Forwarding(registry)
        forwarding.begin(load(tmp_path / "monitor.yaml"))
        forwarding.hear([alert("A"), alert("B", NOW + 1)], NOW + 2, SECOND)
        until(lambda: alive.posted, within=10)
        name = "vllm_monitor_alertmanager_errors_total"
        until(lambda: registry.get_sample_value(name, {"alertmanager": dead}) == 2, within=10)
        forwarding.stop(60)
        assert [one["labels"] for one in alive.posted[0][2]] == [{"alertname": "A"}, {"alertname": "B"}]
        ours = {f"alertmanager {dead}", f"alertmanager {alive.url.removeprefix('http://')}"}
        assert not [thread for thread in threading.enumerate() if thread.name in ours]


def test_one_that_is_dead_and_no_longer_wanted_is_not_waited_for_again_and_again() -> None:
    registry = CollectorRegistry()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        url = Secret(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        line = Line("am", Address(url, HttpOptions(timeout=100)), ForwardMetrics(registry))
        line.put([alert(f"a{number}") for number in range(BATCH * 100)])
        line.start()
        until(lambda: registry.get_sample_value("vllm_monitor_alertmanager_errors_total", {"alertmanager": "am"}), 5)
        line.finish()
        connections(silent)
        line.join(60)
        assert not line.works
        # The one that was under way.
        assert connections(silent) <= 1


def connections(listener: socket.socket) -> int:
    """Return how many have come since this was asked last."""
    count = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


def test_one_that_is_reached_in_another_way_is_shown_as_long_as_there_is_one_of_its_name() -> None:
    registry = CollectorRegistry()
    metrics = ForwardMetrics(registry)

    def sent() -> float | None:
        return registry.get_sample_value("vllm_monitor_alertmanager_sent_total", {"alertmanager": "am"})

    metrics.begin("am")
    metrics.sent.labels("am").inc()
    metrics.begin("am")
    metrics.end("am")
    assert sent() == 1
    metrics.end("am")
    assert sent() is None


def test_one_that_was_found_goes_on_over_a_reload(tmp_path: Path) -> None:
    with webhooks() as theirs:
        (tmp_path / "found.json").write_text(json.dumps([{"targets": [theirs.url.removeprefix("http://")]}]))
        path = tmp_path / "monitor.yaml"
        path.write_text("alerting: {alertmanagers: [{file_sd_configs: [{files: [found.json]}]}]}\n")
        forwarding = Forwarding(CollectorRegistry())
        forwarding.begin(load(path))

        def hears() -> bool:
            forwarding.hear([alert("A")], NOW, SECOND)
            return bool(theirs.posted)

        until(hears, within=10)
        path.write_text(path.read_text() + "global: {external_labels: {changed: x}}\n")
        forwarding.begin(load(path))
        forwarding.hear([alert("A"), alert("B")], NOW + SECOND, SECOND)
        forwarding.stop(60)
        told = [[one["labels"]["alertname"] for one in posted] for _, _, posted in theirs.posted]
        assert told == [["A"], ["B"]]


def test_one_that_comes_with_a_reload_hears_at_once_what_fires(tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    with webhooks() as first, webhooks() as second:
        forwarding = Forwarding(CollectorRegistry())
        for at, theirs in ((NOW, first), (NOW + SECOND, second)):
            target = theirs.url.removeprefix("http://")
            path.write_text(f'alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{target}"]}}]}}]}}\n')
            forwarding.begin(load(path))
            forwarding.hear([alert("A")], at, SECOND)
        forwarding.stop(60)
        assert [len(first.posted), len(second.posted)] == [1, 1]


def test_one_that_is_found_while_the_daemon_runs_hears_of_what_fires_and_one_that_is_gone_no_more(
    tmp_path: Path,
) -> None:
    with webhooks() as first, webhooks() as second:
        addresses = [theirs.url.removeprefix("http://") for theirs in (first, second)]
        (tmp_path / "found.json").write_text(json.dumps([{"targets": [addresses[0], "dropped:1"]}]))
        (tmp_path / "monitor.yaml").write_text(
            """\
alerting:
  alertmanagers:
    - file_sd_configs: [{files: [found.json], refresh_interval: 100ms}]
      relabel_configs:
        - {action: drop, source_labels: [__address__], regex: "dropped:.*"}
        - {target_label: __alerts_path__, replacement: /other/api/v2/alerts}
"""
        )
        forwarding = Forwarding(CollectorRegistry())
        forwarding.begin(load(tmp_path / "monitor.yaml"))

        def reaches(theirs: Webhooks) -> bool:
            forwarding.hear([alert("A")], NOW, SECOND)
            return bool(theirs.posted)

        until(lambda: reaches(first), within=10)
        assert {path for _, path, _ in first.posted} == {"other/api/v2/alerts"}
        (tmp_path / "found.json").write_text(json.dumps([{"targets": [addresses[1]]}]))
        until(lambda: reaches(second), within=10)
        before = len(first.posted)
        forwarding.hear([alert("B")], NOW, SECOND)
        forwarding.stop(60)
        assert len(first.posted) == before
