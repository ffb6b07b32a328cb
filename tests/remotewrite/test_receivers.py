"""The history, written to real receivers: a Prometheus, old and new, and a VictoriaMetrics; all of it arrives."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import requests
from prometheus_client import CollectorRegistry

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.model.instant import MINUTE, Instant
from monitor.model.sample import STALE
from monitor.remotemetrics import RemoteWriteMetrics
from monitor.remotewrite.positions import FILE_NAME, Positions
from monitor.remotewrite.writer import LOOK
from monitor.remotewriting import Remoting, writers_of
from tests.differential.server import prometheus
from tests.engines import engine
from tests.notify.endpoint import endpoint
from tests.ports import free_port
from tests.storage.history.keeping import START, Keeper, minutes
from tests.waiting import until

Samples = dict[str, list[tuple[Instant, float]]]
Ask = Callable[[Instant], Samples]
COUNT = 150


@contextmanager
def a_prometheus(program: str, folder: Path) -> Iterator[tuple[str, Ask]]:
    with prometheus(program, folder) as server:

        def ask(end: Instant) -> Samples:
            answer = server.query("kept[1d]", end, None, MINUTE)
            return {
                one["metric"]["k"]: [(round(at * 1000), float(value)) for at, value in one["values"]]
                for one in answer["data"]["result"]
            }

        yield f"{server.url}/api/v1/write", ask


@contextmanager
def a_victoria(folder: Path) -> Iterator[tuple[str, Ask]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    options = [f"-storageDataPath={folder}/vm", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=100y"]
    process = subprocess.Popen(
        [engine("victoria-metrics", "newer"), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def is_up() -> bool:
        try:
            return requests.get(f"{url}/health", timeout=1).ok
        except requests.RequestException:
            return False

    def ask(_end: Instant) -> Samples:
        requests.get(f"{url}/internal/force_flush", timeout=60)
        found = requests.get(f"{url}/api/v1/export?match[]=kept", timeout=60)
        lines = [json.loads(line) for line in found.text.splitlines()]
        return {one["metric"]["k"]: _sorted(one["timestamps"], one["values"]) for one in lines}

    try:
        until(is_up, within=60)
        yield f"{url}/api/v1/write", ask
    finally:
        process.terminate()
        process.wait(60)


def _sorted(times: list[Instant], values: list[float | None]) -> list[tuple[Instant, float]]:
    # A staleness marker is exported as null.
    return sorted((at, value) for at, value in zip(times, values, strict=True) if value is not None)


RECEIVERS: dict[str, Callable[[Path], AbstractContextManager[tuple[str, Ask]]]] = {
    "prometheus 2.42": lambda folder: a_prometheus(engine("prometheus"), folder),
    "prometheus 3.5": lambda folder: a_prometheus(engine("prometheus", "newer"), folder),
    "victoria-metrics": a_victoria,
}


def config_of(folder: Path, url: str, more: str = "") -> Path:
    path = folder / "monitor.yaml"
    path.write_text(f'remote_write: [{{url: "{url}", name: long{more}}}]\nscrape_configs: []\n')
    return path


@pytest.mark.parametrize("name", RECEIVERS)
def test_all_that_is_kept_arrives_as_it_is_over_a_restart_in_the_middle(name: str, tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    written: Samples = {"a": [], "b": []}
    with RECEIVERS[name](tmp_path) as (url, ask):
        config = load(config_of(tmp_path, url))
        metrics = RemoteWriteMetrics(CollectorRegistry())

        def send(now: Instant) -> None:
            # Each time as after a restart: where it stood is known from the file alone.
            (writer,) = writers_of(config, keeper.history, Positions(tmp_path), metrics)
            while writer.step(now) == 0:
                pass

        keeper.save(START - MINUTE)
        send(START)
        for place, at in enumerate(minutes(COUNT)):
            values = {"a": place / 3, **({"b": 1e300 - place} if place < COUNT // 2 else {})}
            for series, value in values.items():
                written[series].append((at, value))
            keeper.write(at, values if place != COUNT // 2 else {**values, "b": STALE})
            keeper.save(at)
            if place in (40, 41, 120):
                send(at + MINUTE)
        send(START + COUNT * MINUTE)
        found = ask(START + COUNT * MINUTE)
    assert {series: [at for at, _ in samples] for series, samples in found.items()} == {
        series: [at for at, _ in samples] for series, samples in written.items()
    }
    for series, samples in written.items():
        # A VictoriaMetrics keeps twelve digits.
        close = 1e-11 if name == "victoria-metrics" else 0
        assert [value for _, value in found[series]] == pytest.approx([value for _, value in samples], rel=close, abs=0)


@pytest.mark.parametrize("name", RECEIVERS)
def test_who_is_killed_before_it_notes_what_has_arrived_loses_nothing_that_comes_after(
    name: str, tmp_path: Path
) -> None:
    keeper = Keeper(tmp_path)
    registry = CollectorRegistry()
    metrics = RemoteWriteMetrics(registry)
    with RECEIVERS[name](tmp_path) as (url, ask):
        config = load(config_of(tmp_path, url))

        def send(now: Instant) -> None:
            (writer,) = writers_of(config, keeper.history, Positions(tmp_path), metrics)
            while writer.step(now) != LOOK:
                pass

        keeper.save(START - MINUTE)
        send(START)
        position = (tmp_path / FILE_NAME).read_bytes()
        written = minutes(30)
        for place, at in enumerate(written):
            keeper.write(at, {"a": float(place)})
            keeper.save(at)
            if place == 9:
                send(at + MINUTE)
                (tmp_path / FILE_NAME).write_bytes(position)
        send(START + 31 * MINUTE)
        found = ask(START + 30 * MINUTE)
    # What arrives twice a Prometheus refuses, but for its newest sample, with all that came along; a VictoriaMetrics
    # keeps it twice.
    assert sorted({at for at, _ in found["a"]}) == list(written)
    refused = registry.get_sample_value(
        "vllm_monitor_remote_write_samples_failed_total", {"remote": "long", "reason": "message"}
    )
    assert refused == (None if name == "victoria-metrics" else 9)


def test_the_daemons_thread_writes_counts_and_stops(tmp_path: Path) -> None:
    keeper, registry = Keeper(tmp_path), CollectorRegistry()
    keeper.save(START)
    with endpoint() as receiver:
        credentials = ", basic_auth: {username: u, password: p}, headers: {X-Scope-OrgID: team}"
        config = load(config_of(tmp_path, receiver.url, credentials))
        clock = VirtualClock(START + MINUTE)
        Positions(tmp_path).put("long", START)
        remoting = Remoting(keeper.history, tmp_path, clock, RemoteWriteMetrics(registry))
        keeper.write(START + MINUTE, {"a": 1.0})
        keeper.save(START + MINUTE)
        remoting.begin(config)
        labels, behind = {"remote": "long"}, "vllm_monitor_remote_write_behind_seconds"
        # The last thing that is told of a request.
        until(lambda: registry.get_sample_value(behind, labels) == 0, within=10)
        remoting.stop()
        (request,) = receiver.requests
    assert request.headers["authorization"] == "Basic dTpw"
    assert request.headers["x-scope-orgid"] == "team"
    assert request.headers["content-encoding"] == "snappy"
    assert registry.get_sample_value("vllm_monitor_remote_write_samples_total", labels) == 1
    assert registry.get_sample_value(behind, labels) == 0
    assert Positions(tmp_path).get("long") == START + MINUTE


def test_positions_that_cannot_be_read_begin_anew(tmp_path: Path) -> None:
    for damage in (b"\xff", b"[]", b'{"a": "x"}'):
        (tmp_path / FILE_NAME).write_bytes(damage)
        assert Positions(tmp_path).get("a") is None
