"""Every panel has something to show: a real Prometheus scrapes a recorded server and evaluates the shipped rules."""

import json
import re
import time
from itertools import count
from pathlib import Path

import requests

from monitor.clock import monotonic_seconds
from monitor.model.instant import SECOND, Duration, Instant
from tests.dashboards.optional import why_empty
from tests.dashboards.queries import asked
from tests.differential.server import prometheus
from tests.engines import engine
from tests.recorded import RecordedServer, Recording

ROOT = Path(__file__).parents[2]
# Seven seconds into the recorded overload: the queue is long, requests finish, and preemptions have begun.
OVERLOAD: Duration = 119 * SECOND
# Between two scrapes; in real time there is half a second, so that the story is soon told.
STEP: Duration = 2 * SECOND
PATIENCE_SECONDS = 120


class Turning:
    """The recorded instant goes on with every scrape: however late one is, it sees the next page, and none is lost."""

    def __init__(self, start: Instant) -> None:
        self._times = count(start, STEP)

    def now(self) -> Instant:
        return next(self._times)


def test_every_panel_has_data_during_the_recorded_overload(tmp_path: Path) -> None:
    empty = {one.expr for one in asked() if not why_empty(one.expr)}
    recording = Recording.load("vllm-0.32.0-overload-1s")
    with (
        RecordedServer(recording, Turning(recording.times[0] + OVERLOAD)) as vllm,
        prometheus(engine("prometheus", "newer"), tmp_path, configuration(tmp_path, vllm.address)) as server,
    ):
        end = monotonic_seconds() + PATIENCE_SECONDS
        while empty and monotonic_seconds() < end:
            time.sleep(0.5)
            empty = {expr for expr in empty if not has_data(server.url, expr)}
    assert empty == set()


def has_data(url: str, expr: str) -> bool:
    answer = requests.get(f"{url}/api/v1/query", params={"query": expr}, timeout=60).json()
    assert answer["status"] == "success", answer
    # A large number says by NaN that there is none.
    return any(one["value"][1] != "NaN" for one in answer["data"]["result"])


def configuration(directory: Path, target: str) -> str:
    """Return what makes a Prometheus scrape `target`, and evaluate the shipped rules in `directory`."""
    for path in (ROOT / "rules").glob("*.rules.yaml"):
        # What is evaluated once in some minutes would be seen too late.
        (directory / path.name).write_text(re.sub(r"^    interval: \dm\n", "", path.read_text(), flags=re.MULTILINE))
    return json.dumps(
        {
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
            "rule_files": [str(directory / "*.rules.yaml")],
            "scrape_configs": [{"job_name": "vllm", "static_configs": [{"targets": [target]}]}],
        }
    )
