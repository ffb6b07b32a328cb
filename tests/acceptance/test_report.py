"""A report by the schedule of the daemon as its users run it: seconds before it is due, and when it was not there."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.model.instant import HOUR, MINUTE, SECOND
from monitor.simulator.scenarios import OVERLOAD
from monitor.simulator.server import SimulatedServer
from monitor.simulator.simulator import Simulator
from tests.acceptance.daemon import daemon
from tests.acceptance.stage import write_config
from tests.engines import faketime
from tests.slackstub.stub import SlackStub
from tests.slackstub.workspace import SCOPES, TOKEN, Posted
from tests.waiting import until

# How long the daemon has to begin; when it takes longer, it is the next minute.
EARLY = 8 * SECOND


@pytest.mark.timeout(600)
def test_a_schedule_posts_one_report_with_its_picture(tmp_path: Path) -> None:
    now = SystemClock().now()
    offset = tmp_path / "offset"
    offset.write_text(f"{(MINUTE - EARLY - now % MINUTE) / SECOND:+.3f}")
    with SimulatedServer(Simulator(OVERLOAD, start=now)) as vllm, SlackStub() as slack:
        slack.workspace.tokens[TOKEN] = frozenset((*SCOPES, "files:write"))
        path = write_config(tmp_path, vllm.url.removeprefix("http://"), slack)
        text = path.read_text().replace("5s", "1s", 1).replace("graphs: false", "graphs: true")
        path.write_text(text + 'report: {schedule: "* * * * *", timezone: Europe/Berlin}\n')
        with daemon(tmp_path, "--config", str(path), **faketime(offset)) as ours:

            def reports() -> list[Posted]:
                return [message for message in slack.messages if message.text.startswith("vLLM: ")]

            def with_picture() -> list[Posted]:
                shared = {file.thread_ts for file in slack.workspace.files.values()}
                return [message for message in reports() if message.ts in shared]

            (report, *_) = until(with_picture, within=90)
            # A machine that is busy may have nothing to tell of at the first minute.
            until(lambda: "vllm_monitor_reports_total 0.0" not in ours.get("/metrics"), within=20)
            assert ours.end()[0] == 0
        # On a busy machine there may be one of the next minute by now; of each there is one.
        ends = [message.payload["metadata"]["event_payload"]["id"] for message in reports()]
        assert len(set(ends)) == len(ends)
        assert "CET" in report.text or "CEST" in report.text
        assert "requests" in str(report.payload)
        # It was due half an hour after the end, and the daemon comes back after an hour.
        due = datetime.fromtimestamp((now + HOUR // 2) / SECOND, UTC)
        path.write_text(text + f'report: {{schedule: "{due.minute} {due.hour} * * *"}}\n')
        offset.write_text(f"{HOUR / SECOND:+.3f}")
        with daemon(tmp_path, "--config", str(path), **faketime(offset)) as ours:
            until(lambda: "it was due while nothing ran" in ours.log, within=90)
            assert ours.end()[0] == 0
