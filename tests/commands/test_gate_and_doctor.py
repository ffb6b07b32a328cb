"""`vllm-monitor gate` and `vllm-monitor doctor`: against logs, a log that grows, and a server."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.clock import SystemClock
from monitor.model.instant import MINUTE
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.waiting import until

LOGS = Path(__file__).parents[1] / "data" / "startup"
GOOD, BAD = LOGS / "vllm-0.32.0-startup.log", LOGS / "vllm-0.32.0-failed-start-maxlen.log"
FITS = "GPU KV cache size: 28,432 tokens, Maximum concurrency for 16,384 tokens per request: 1.73x\n"


def run(*arguments: object, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=given)


@pytest.mark.parametrize(
    ("log", "floor", "code", "said"),
    [
        (GOOD, 2.5, 0, "pass: engine 0 holds 6.25 requests of full length at once, at least 2.5"),
        (GOOD, 6.5, 1, "FAIL: engine 0 holds 6.25 requests of full length at once, less than 6.5"),
        (BAD, 2.5, 1, "FAIL: it does not start: one request of max_model_len does not fit into the KV cache"),
    ],
)
def test_the_gate_goes_by_a_log(log: Path, floor: float, code: int, said: str) -> None:
    result = run("gate", "--log", log, "--min-concurrency", floor)
    assert (result.exit_code, result.stdout.strip()) == (code, said)


def test_the_gate_goes_by_a_server() -> None:
    with SimulatedServer(Simulator(OVERLOAD, start=SystemClock().now())) as server:
        result = run("gate", "--url", server.url, "--json")
        told = json.loads(result.stdout)
        assert result.exit_code == 0
        ((engine, fits),) = told["concurrency"].items()
        assert run("gate", "--url", server.url, "--min-concurrency", fits + 0.1).exit_code == 1
        assert f"max concurrency  {fits:.10g}" in run("doctor", "--url", server.url).stdout
        assert engine == "0"


def test_the_doctor_holds_the_prompts_of_a_server_against_a_limit() -> None:
    simulator = Simulator(OVERLOAD, start=SystemClock().now())
    simulator.advance(simulator.start + 3 * MINUTE)
    with SimulatedServer(simulator) as server:
        inputs = json.loads(run("doctor", "--url", server.url, "--input-limit", 50, "--json").stdout)["inputs"]
        shown = run("doctor", "--url", server.url).stdout
    assert inputs["prompts"] > 10
    low, high = inputs["quantiles"]["p95"]
    assert 0 < low < high <= 512
    # 50 is an edge: how many are longer is known exactly.
    assert inputs["above_limit_ratio"][0] == inputs["above_limit_ratio"][1] > 0
    assert inputs["shares"]["max_model_len"] == pytest.approx(512 / 3200)
    assert "one of 512       16% of the KV cache (max_model_len)" in shown


def test_the_gate_fails_where_nobody_answers() -> None:
    result = run("gate", "--url", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "FAIL: http://127.0.0.1:1/metrics: cannot connect" in result.stdout


def processed(arguments: Sequence[str]) -> "subprocess.Popen[str]":
    command = [str(Path(sys.executable).with_name("vllm-monitor")), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def has_read(pid: int, log: Path) -> bool:
    """Return whether a process has the log open, and has read all that is in it."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        # It may be closed meanwhile.
        with suppress(FileNotFoundError):
            if link.readlink() == log:
                told = Path(f"/proc/{pid}/fdinfo/{link.name}").read_text()
                return int(told.split()[1]) == log.stat().st_size
    return False


def test_the_gate_waits_for_a_log_that_grows_and_for_lines_that_are_half_written(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text("INFO nothing yet\n")
    with processed(["gate", "--log", str(log), "--min-concurrency", "1.5", "--timeout", "5m"]) as gate:
        with log.open("a") as written:
            for piece in (FITS[:60], FITS[60:], "INFO: Application startup complete.\n"):
                until(lambda: has_read(gate.pid, log), within=40)
                written.write(piece)
                written.flush()
        assert gate.wait(timeout=120) == 0
        assert gate.stdout is not None
        assert gate.stdout.read() == "pass: engine 0 holds 1.73 requests of full length at once, at least 1.5\n"


def test_the_doctor_follows_a_log_until_the_start_has_failed(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text("INFO nothing yet\n")
    with processed(["doctor", "--follow", str(log), "--json"]) as doctor:
        log.write_text(BAD.read_text())
        assert doctor.wait(timeout=120) == 1
        assert doctor.stdout is not None
        assert json.load(doctor.stdout)["illness"]["wanted"] == 131_072


def test_what_stands_in_a_log_is_shown_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "start.log"
    log.write_text("INFO LLM engine (v0.9.0) with config: model='/m/[/b]\x1b]0;x\x07', max_seq_len=100\n")
    assert "/m/[/b]\\x1b]0;x\\x07" in run("doctor", log).stdout


def test_the_doctor_explains_what_comes_from_standard_input_and_says_what_it_did_not_find() -> None:
    command = [str(Path(sys.executable).with_name("vllm-monitor")), "doctor", "--max-model-len", "16384"]
    with BAD.open() as log:
        done = subprocess.run(command, stdin=log, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "--max-model-len 16384: 2.0 requests at once (4.0 with --kv-cache-dtype fp8)" in done.stdout
    assert "Not in these 167 lines: weights, max concurrency, tokens." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "log", "code", "told"),
    [
        (("gate", "--log", "-", "--timeout", "1m"), GOOD.read_text(), 0, "pass: engine 0 holds 6.25"),
        (("gate", "--log", "-", "--timeout", "1s", "--min-concurrency", "1"), "hello\n", 1, "FAIL: 1 lines of the log"),
        (("doctor", "--follow"), BAD.read_text(), 1, "A context of 131,072 tokens does not fit"),
    ],
)
def test_a_pipe_that_stays_open_is_not_waited_for(arguments: tuple[str, ...], log: str, code: int, told: str) -> None:
    command = [sys.executable, "-m", "monitor", *arguments]
    read, write = os.pipe()
    # What is said stands in the pipe before anybody's time begins, and the pipe stays open.
    with os.fdopen(read, "rb") as ours, os.fdopen(write, "wb", buffering=0) as saying:
        saying.write(log.encode())
        with subprocess.Popen(command, stdin=ours, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.wait(timeout=120) == code
            assert process.stdout.read().startswith(told)


def test_standard_input_that_is_closed_is_said() -> None:
    command = ["sh", "-c", f"exec '{sys.executable}' -m monitor doctor - <&-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "standard input is closed\n")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("doctor", "/nowhere/vllm.log"), 1, "No such file or directory"),
        (("doctor", "/"), 1, "Is a directory"),
        (("gate", "--log", "/nowhere/vllm.log"), 1, "No such file or directory"),
        (("gate", "--log", "-", "--url", "http://h:1"), 2, "exclude each other"),
        (("gate", "--min-concurrency", "0"), 2, "more than 0"),
        (("gate", "--min-concurrency", "nan"), 2, "more than 0"),
        (("gate", "--timeout", "soon"), 2, "--timeout"),
        (("gate", "--url", "http://"), 2, '--url: "" is not host:port'),
        (("doctor", "--url", "ftp://h"), 2, "ftp://h"),
        (("doctor", "--url", "http://127.0.0.1:1"), 1, "cannot connect"),
        (("doctor", "--url", "http://127.0.0.1:1", "vllm.log"), 2, "exclude each other"),
        (("doctor", "--max-model-len", "0"), 2, "--max-model-len"),
    ],
)
def test_what_cannot_be_read_is_said(arguments: tuple[str, ...], code: int, told: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert told in result.stderr
