"""VictoriaMetrics, and vmalert, which plays rules over a past."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import requests

from monitor.model.instant import Instant, to_seconds
from tests.engines import engine
from tests.ports import free_port
from tests.sameness.history import STEP, History
from tests.waiting import until


@contextmanager
def victoria(folder: Path) -> Iterator[str]:
    """Run a VictoriaMetrics, and yield its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    options = [
        f"-storageDataPath={folder}/vm",
        f"-httpListenAddr=127.0.0.1:{port}",
        "-retentionPeriod=100y",
        # What was written a moment ago is asked for.
        "-search.latencyOffset=0s",
        "-search.disableCache",
        "-inmemoryDataFlushInterval=1s",
    ]
    command = [engine("victoria-metrics", "newer"), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_up() -> bool:
        try:
            return requests.get(f"{url}/health", timeout=1).ok
        except requests.RequestException:
            return False

    try:
        until(is_up, within=60)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def flush(url: str) -> None:
    """Let what was written be seen at once."""
    requests.get(f"{url}/internal/force_flush", timeout=60).raise_for_status()


def replay(history: History, rules: Sequence[Path], url: str, pause: str) -> None:
    """Have vmalert evaluate `rules` over the history that the server at `url` has, and write to it what it finds."""
    command = [
        engine("vmalert", "newer"),
        *(f"-rule={path}" for path in rules),
        f"-datasource.url={url}",
        f"-remoteWrite.url={url}",
        "-remoteWrite.flushInterval=100ms",
        "-remoteWrite.concurrency=1",
        # After every rule: the next one may read what it has found.
        f"-replay.rulesDelay={pause}",
        f"-replay.timeFrom={_written(history.start)}",
        f"-replay.timeTo={_written(history.end)}",
        "-replay.disableProgressBar",
        f"-evaluationInterval={STEP}ms",
        "-disableAlertgroupLabel",
        "-httpListenAddr=127.0.0.1:0",
        "-loggerLevel=ERROR",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _written(at: Instant) -> str:
    return datetime.fromtimestamp(to_seconds(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
