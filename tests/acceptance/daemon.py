"""A `vllm-monitor run` of ours: a process, started and ended by a test."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import requests

from monitor.clock import monotonic_seconds
from tests.waiting import until

# How long an answer, and an end, is waited for: as with `until`, who waits in vain waits longer, that is all.
PATIENCE = 60
# SIGTERM ends it within five seconds. A busy machine takes some more, and what must not be waited for far more.
SOON = 15


class Daemon:
    """A `vllm-monitor run` of ours."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self.process = process
        self._log = log
        started = until(lambda: re.search(r"msg=started .*listen=\S+?:(\d+)", self.log), within=20)
        self.url = f"http://127.0.0.1:{started[1]}"

    @property
    def log(self) -> str:
        return self._log.read_text()

    def get(self, path: str) -> str:
        return requests.get(self.url + path, timeout=PATIENCE).text

    def data(self, path: str) -> Any:
        return requests.get(self.url + path, timeout=PATIENCE).json()["data"]

    def post(self, path: str) -> tuple[int, str]:
        answer = requests.post(self.url + path, timeout=PATIENCE)
        return answer.status_code, answer.text

    def is_ready(self) -> bool:
        return self.get("/-/ready") == "vllm-monitor is ready.\n"

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Send the signal; return the exit code and the seconds until the end."""
        began = monotonic_seconds()
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE), monotonic_seconds() - began


def daemon_process(folder: Path, output: IO[str], *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    """Start `vllm-monitor run` in `folder`; whoever calls ends it."""
    command = [str(Path(sys.executable).with_name("vllm-monitor")), "run", *arguments]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "VLLM_MONITOR_"))}
    return subprocess.Popen(command, cwd=folder, env=clean | environment, stdout=output, stderr=output, text=True)


@contextmanager
def daemon(folder: Path, *arguments: str, **environment: str) -> Iterator[Daemon]:
    log = folder / "daemon.log"
    with log.open("w") as output:
        process = daemon_process(folder, output, *arguments, **environment)
    try:
        yield Daemon(process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
