"""The scheduled report: one for each time, made by a child, and nothing waits for it."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from monitor.clock import VirtualClock
from monitor.config.read import load
from monitor.model.instant import MINUTE, SECOND, Instant
from monitor.notify.slack.bulletin import Bulletin, Paragraph
from monitor.notify.slack.workspace import Workspace
from monitor.reportjob import OwnWay, ReportJob
from monitor.workers import Workers
from tests.acceptance.stage import write_config
from tests.slackstub.faults import SlackError
from tests.slackstub.stub import SlackStub
from tests.waiting import until

NOW: Instant = 1_793_577_600_000
BULLETIN = Bulletin("report-1-2", "vLLM: a week", (Paragraph("llama", (("queue", "peak 3 requests"),)),))
MADE = json.dumps({"bulletin": asdict(BULLETIN), "png": ""})
# Children that make a report, that cannot, and that take long; the first one shows what it was asked for.
GOOD = f"import sys; asked = sys.stdin.read(); print({MADE!r}.replace('llama', asked.replace(chr(34), '')))"
BAD = """print('{"reason": "nobody answers"}')"""
SLOW = "import time; time.sleep(120)"


class House:
    """A job, with what it posts to and what it counts."""

    def __init__(self, folder: Path, slack: SlackStub, program: str) -> None:
        path = write_config(folder, "127.0.0.1:1", slack)
        path.write_text(path.read_text() + 'report: {schedule: "0 9 * * mon"}\n')
        config = load(path)
        assert config.report is not None
        self.counted: list[str] = []
        self.slack = slack
        self.workers = Workers()
        workspace = Workspace(VirtualClock(NOW).now)
        command = (sys.executable, "-c", program)
        self.job = ReportJob(
            config,
            config.report,
            OwnWay("http://127.0.0.1:9", "t"),
            workspace,
            self.workers,
            self.counted.append,
            command,
        )

    def tick(self, now: Instant) -> None:
        self.job.tick(now)
        until(self.workers.is_idle, within=60)


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    with SlackStub() as stub:
        yield stub


def test_a_time_that_comes_again_has_one_report(tmp_path: Path, slack: SlackStub) -> None:
    house = House(tmp_path, slack, GOOD)
    for now in (NOW, NOW + SECOND, NOW - 10 * MINUTE, NOW):
        house.tick(now)
    (message,) = slack.messages
    assert f"end: {NOW}" in str(message.payload)
    assert house.counted == [""]


def test_a_report_that_cannot_be_made_is_counted(
    tmp_path: Path, slack: SlackStub, caplog: pytest.LogCaptureFixture
) -> None:
    house = House(tmp_path, slack, BAD)
    house.tick(NOW)
    assert (house.counted, slack.messages) == (["not_made"], [])
    assert [record.__dict__["reason"] for record in caplog.records if record.name == "monitor.reportjob"] == [
        "nobody answers"
    ]


def test_a_report_that_slack_does_not_take_is_counted(tmp_path: Path, slack: SlackStub) -> None:
    slack.fail_next(SlackError("channel_not_found"))
    house = House(tmp_path, slack, GOOD)
    house.tick(NOW)
    assert (len(house.counted), slack.messages) == (1, [])
    assert house.counted != [""]


def test_the_end_of_the_daemon_does_not_wait_for_it(tmp_path: Path, slack: SlackStub) -> None:
    house = House(tmp_path, slack, SLOW)
    house.job.tick(NOW)
    house.job.tick(NOW + MINUTE)
    assert house.counted == ["busy"]
    house.job.stop()
    until(house.workers.is_idle, within=10)
    assert house.counted == ["busy", "not_made"]
