"""The simulator behind HTTP: what a scraper and a prober see on the wire."""

import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
import requests

from monitor.clock import monotonic_seconds
from monitor.model.instant import MINUTE, SECOND
from monitor.simulator.__main__ import main
from monitor.simulator.script import (
    BadAnswer,
    BadPage,
    Hang,
    Killed,
    Phase,
    Restart,
    Server,
    SlowPage,
    Unreachable,
    exactly,
)
from monitor.simulator.server import SimulatedServer
from tests.simulator.reading import play, value
from tests.waiting import until

BUSY = Phase(at=0, duration=10 * MINUTE, clients=4, prompt=exactly(64), output=exactly(100))


def test_the_page_is_served_with_the_recorded_content_type() -> None:
    with SimulatedServer(play(BUSY)) as server:
        server.simulator.advance(server.simulator.start + MINUTE)
        answer = requests.get(f"{server.url}/metrics", timeout=60)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "text/plain; version=1.0.0; charset=utf-8"
        assert answer.text == server.simulator.page()
        assert value(answer.text, "vllm:num_requests_running") == 4


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/health", 200, None),
        ("/ping", 200, None),
        ("/version", 200, {"version": "0.32.0"}),
        ("/load", 200, {"server_load": 0}),
        ("/nothing", 404, {"detail": "Not Found"}),
    ],
)
def test_the_other_endpoints_answer(path: str, status: int, body: dict[str, object] | None) -> None:
    with SimulatedServer(play()) as server:
        answer = requests.get(server.url + path, timeout=60)
    assert answer.status_code == status
    assert (answer.json() if body else answer.text) == (body or "")


def test_models_say_the_context_length() -> None:
    with SimulatedServer(play()) as server:
        (model,) = requests.get(f"{server.url}/v1/models", timeout=60).json()["data"]
    assert (model["id"], model["max_model_len"], model["parent"]) == ("tiny-llama", 512, None)


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        ("/v1/models", "", 401),
        ("/v1/models", "wrong", 401),
        ("/v1/models", "s3cr3t", 200),
        ("/version", "", 200),
        ("/metrics", "", 200),
        ("/is_sleeping", "", 200),
    ],
)
def test_the_key_is_asked_for_below_v1_only(path: str, key: str, status: int) -> None:
    with SimulatedServer(play(server=Server(api_key="s3cr3t", dev_mode=True))) as server:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        assert requests.get(server.url + path, headers=headers, timeout=60).status_code == status


@pytest.mark.parametrize(
    ("server", "path"), [(Server(), "/is_sleeping"), (Server(version="0.7.3"), "/load")], ids=["no dev mode", "0.7.3"]
)
def test_paths_that_a_server_has_not(server: Server, path: str) -> None:
    with SimulatedServer(play(server=server)) as served:
        assert requests.get(served.url + path, timeout=60).status_code == 404


def test_an_endpoint_can_fail_for_itself() -> None:
    fault = BadAnswer(at=0, duration=MINUTE, path="/health", status=503, delay=50)
    with SimulatedServer(play(faults=(fault,))) as server:
        assert requests.get(f"{server.url}/health", timeout=60).status_code == 503
        assert requests.get(f"{server.url}/metrics", timeout=60).status_code == 200
        server.simulator.advance(server.simulator.start + MINUTE)
        assert requests.get(f"{server.url}/health", timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        pytest.param({"model": "tiny-llama", "prompt": "Hello", "max_tokens": 1}, 200, id="answered"),
        pytest.param({"model": "tiny-llama", "prompt": "word " * 500}, 400, id="too long"),
        pytest.param({"model": "other", "prompt": "Hello"}, 404, id="another model"),
        pytest.param({"nonsense": 1}, 404, id="no completion"),
    ],
)
def test_a_completion_goes_through_the_engine(asked: dict[str, object], status: int) -> None:
    with SimulatedServer(play()) as server, ThreadPoolExecutor(1) as pool:
        simulator = server.simulator
        answer = pool.submit(requests.post, f"{server.url}/v1/completions", json=asked, timeout=60)
        while not answer.done():
            wait([answer], timeout=0.02)
            simulator.advance(simulator.now + SECOND)
        assert answer.result().status_code == status
        assert value(simulator.page(), "vllm:generation_tokens_total") == (1 if status == 200 else 0)


def test_a_completion_that_a_hung_engine_has_breaks_with_it() -> None:
    faults = (Hang(at=0, duration=10 * MINUTE), Killed(at=MINUTE))
    with SimulatedServer(play(faults=faults)) as server, ThreadPoolExecutor(1) as pool:
        asked = {"model": "tiny-llama", "prompt": "Hello", "max_tokens": 1}
        answer = pool.submit(requests.post, f"{server.url}/v1/completions", json=asked, timeout=60)
        until(lambda: server.simulator.in_flight == 1, within=5)
        server.simulator.advance(server.simulator.start + MINUTE)
        with pytest.raises(requests.ConnectionError):
            answer.result()


def test_a_refused_port_is_really_closed_and_opens_again_where_it_was() -> None:
    faults = (Unreachable(at=10 * SECOND, duration=10 * SECOND), Unreachable(at=30 * SECOND, duration=10 * SECOND))
    # A session would keep its connection, and be served through it, if it could.
    with SimulatedServer(play(BUSY, faults=faults)) as server, requests.Session() as client:
        simulator, url = server.simulator, server.url
        for second, open_ in ((5, True), (15, False), (25, True), (35, False), (45, True)):
            simulator.advance(simulator.start + second * SECOND)
            if open_:
                assert client.get(f"{url}/metrics", timeout=60).status_code == 200
            else:
                with pytest.raises(requests.ConnectionError, match="refused"):
                    client.get(f"{url}/metrics", timeout=60)


def test_a_port_that_is_refused_for_a_while_is_nobody_elses_meanwhile() -> None:
    with SimulatedServer(play(faults=(Unreachable(at=0, duration=MINUTE),))) as server, socket.socket() as other:
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", server.port))
        server.simulator.advance(server.simulator.start + MINUTE)
        assert requests.get(f"{server.url}/health", timeout=60).status_code == 200


def test_what_is_stopped_in_the_midst_of_an_advance_stays_stopped() -> None:
    simulator = play()
    server = SimulatedServer(simulator)
    server.start()
    heard_of_by = simulator._watch
    server.stop()
    heard_of_by(True)
    assert server._listener is None


def test_a_server_that_starts_slowly_has_its_port_but_refuses() -> None:
    with SimulatedServer(play(faults=(Restart(at=0, duration=MINUTE),))) as server:
        assert server.port > 0
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{server.url}/health", timeout=60)
        server.simulator.advance(server.simulator.start + MINUTE)
        assert requests.get(f"{server.url}/health", timeout=60).status_code == 200


def test_an_error_page_has_its_status_and_body() -> None:
    with SimulatedServer(play(faults=(BadPage(at=0, duration=MINUTE, status=500, body="broken"),))) as server:
        answer = requests.get(f"{server.url}/metrics", timeout=60)
    assert (answer.status_code, answer.text) == (500, "broken")


def test_a_dripping_page_takes_its_time_and_stopping_does_not_wait_for_it() -> None:
    server = SimulatedServer(play(faults=(SlowPage(at=0, duration=MINUTE, delay=50, drip=10),)))
    server.start()
    began = monotonic_seconds()
    assert requests.get(f"{server.url}/metrics", timeout=60).status_code == 200
    assert monotonic_seconds() - began >= 0.2
    server.stop()

    server = SimulatedServer(play(faults=(SlowPage(at=0, duration=MINUTE, drip=10 * SECOND),)))
    server.start()
    with requests.get(f"{server.url}/metrics", timeout=60, stream=True) as answer:
        assert next(answer.iter_content(100))
        began = monotonic_seconds()
        server.stop()
        # Of its pieces each takes ten seconds.
        assert monotonic_seconds() - began < 60


def test_a_port_that_is_taken_is_an_error() -> None:
    with SimulatedServer(play()) as first, pytest.raises(OSError, match="in use"):
        SimulatedServer(play(), port=first.port).start()


def test_the_command_plays_a_scenario_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scenario", "killed", "--listen", "127.0.0.1:0", "--speed", "2000"]) == 0
    out = capsys.readouterr().out
    assert "killed (10m) on http://127.0.0.1:" in out
    assert "/metrics" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_command_cleanly(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "monitor.simulator", "--scenario", "hang", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "hang (11m)" in process.stdout.readline()
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
