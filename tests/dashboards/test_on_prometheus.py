"""Every panel has something to show: a real Prometheus scrapes a recorded server and evaluates the shipped rules."""

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from monitor.clock import SystemClock
from monitor.model.instant import Instant
from tests.dashboards.optional import why_empty
from tests.dashboards.queries import asked
from tests.engines import engine
from tests.recorded import RecordedServer, Recording

ROOT = Path(__file__).parents[2]
# Seven seconds into the recorded overload: the queue is long, requests finish, and preemptions have begun.
OVERLOAD = 119_000
SPEED = 4
PATIENCE_SECONDS = 20


@dataclass(frozen=True)
class FastClock:
    """The recorded instant, which passes faster than the real one."""

    start: Instant
    real_start: Instant

    def now(self) -> Instant:
        return self.start + (SystemClock().now() - self.real_start) * SPEED


def test_every_panel_has_data_during_the_recorded_overload(tmp_path: Path) -> None:
    wanted = {one.expr for one in asked() if not why_empty(one.expr)}
    recording = Recording.load("vllm-0.32.0-overload-1s")
    clock = FastClock(recording.times[0] + OVERLOAD, SystemClock().now())
    with RecordedServer(recording, clock) as vllm, prometheus(tmp_path, vllm.address) as address:
        empty = wanted
        deadline = SystemClock().now() + PATIENCE_SECONDS * 1000
        while empty and SystemClock().now() < deadline:
            time.sleep(0.5)
            empty = {expr for expr in empty if not has_data(address, expr)}
    assert empty == set()


def has_data(address: str, expr: str) -> bool:
    answer = requests.get(f"http://{address}/api/v1/query", params={"query": expr}, timeout=5).json()
    assert answer["status"] == "success", answer
    # A large number says by NaN that there is none.
    return any(one["value"][1] != "NaN" for one in answer["data"]["result"])


@contextmanager
def prometheus(directory: Path, target: str) -> Iterator[str]:
    """Run a Prometheus that scrapes `target` and loads the shipped rules; yield its address when it is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    for path in (ROOT / "rules").glob("*.rules.yaml"):
        # What is evaluated once in some minutes would be seen too late.
        (directory / path.name).write_text(re.sub(r"^    interval: \dm\n", "", path.read_text(), flags=re.MULTILINE))
    config = {
        "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
        "rule_files": [str(directory / "*.rules.yaml")],
        "scrape_configs": [{"job_name": "vllm", "static_configs": [{"targets": [target]}]}],
    }
    (directory / "prometheus.yml").write_text(json.dumps(config))
    command = [engine("prometheus", "newer"), f"--config.file={directory / 'prometheus.yml'}"]
    command += [f"--storage.tsdb.path={directory / 'data'}", f"--web.listen-address={address}", "--log.level=error"]
    with subprocess.Popen(command) as process:
        try:
            wait_until_ready(address)
            yield address
        finally:
            process.terminate()


def wait_until_ready(address: str) -> None:
    for _ in range(100):
        try:
            if requests.get(f"http://{address}/-/ready", timeout=1).status_code == requests.codes.ok:
                return
        except requests.ConnectionError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"Prometheus on {address} is not ready")
