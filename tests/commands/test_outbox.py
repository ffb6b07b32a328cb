"""`vllm-monitor outbox` against the paths that serve it, a real outbox and a real state file behind them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from flask import Flask
from typer.testing import CliRunner, Result

from monitor.cli import cli
from monitor.clock import SystemClock
from monitor.dispatch.dispatcher import Delivery, Flush
from monitor.dispatch.notification import Notification, NotifyError, Reason
from monitor.journal import DEAD_RETENTION, Journal
from monitor.model.instant import DAY, HOUR, MINUTE, SECOND
from monitor.model.labels import EMPTY
from monitor.notify.outbox import Outbox
from monitor.postoffice import PostOffice
from monitor.storage.db import Database
from monitor.web.answer import failure
from monitor.web.error import ApiError
from monitor.web.outbox import OutboxApi
from monitor.web.server import Server
from tests.notify.samples import queue

DOWN = NotifyError("the receiver failed (status 503)", reason="ambiguous", retryable=True)
REFUSED = NotifyError("the receiver refused (status 400)", reason="message", retryable=False, hopeless=True)


@dataclass
class Place:
    error: NotifyError | None = None
    arrived: list[str] = field(default_factory=list)

    def notify(self, notification: Notification) -> None:
        if self.error is not None:
            raise self.error
        self.arrived.append(notification.id)


class Stage:
    """A daemon of which only the letters are at work."""

    def __init__(self, folder: Path) -> None:
        self.clock = SystemClock()
        self.database = Database(folder)
        self.journal = Journal(self.database, lambda: None)
        self.place = Place()
        self.outbox = Outbox({"oncall/webhook[0]": self.place}, lambda _: None, self.journal)
        self.running = True
        self.url = ""

    def post_office(self) -> PostOffice | None:
        return PostOffice(self.outbox, self.journal, self.clock) if self.running else None

    def put(self, name: str, error: NotifyError | None, ago: int = 0) -> None:
        now = self.clock.now() - ago
        told = Notification("oncall", name, EMPTY, (queue(),), now, Reason.FIRST, id=name)
        delivery = Delivery("oncall/webhook[0]", told)
        self.journal.commit((), (), Flush((delivery,)))
        self.place.error = error
        self.outbox.put(delivery, now)
        self.outbox.deliver_due(now)

    def __call__(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["outbox", *arguments, "--url", self.url])

    def rows(self, *arguments: str) -> list[str]:
        done = self("list", *arguments)
        assert done.exit_code == 0, done.output
        return [re.sub(" {2,}", "|", line.strip()) for line in done.stdout.splitlines() if line.strip(" ─")]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    app = Flask("test")
    app.register_blueprint(OutboxApi(stage).blueprint())
    app.register_error_handler(ApiError, failure)
    server = Server(app, "127.0.0.1", 0)
    server.start()
    stage.url = f"http://127.0.0.1:{server.port}"
    try:
        yield stage
    finally:
        server.stop()
        stage.journal.close()


TITLE = "WARNING: vLLM's queue has been long for minutes · 42 requests… · 10.0.0.1:8000"


def test_an_empty_outbox_says_so(stage: Stage) -> None:
    assert stage.rows() == ["nothing waits"]


def test_the_list_shows_what_waits_and_what_was_given_up(stage: Stage) -> None:
    # Ages are shown to the hour: nothing takes half a one meanwhile.
    stage.put("waits-0123456789", DOWN, ago=26 * HOUR + 30 * MINUTE)
    stage.put("refused-0123456789", REFUSED, ago=2 * DAY + 4 * HOUR + 30 * MINUTE)
    waiting, dead = stage.rows()[1], stage.rows()[-1]
    assert re.fullmatch(
        r"waits-0123\|oncall/webhook\[0\]\|WARNING: .*\|1d2h\|1\|now\|the receiver failed \(status 503\)", waiting
    )
    assert re.fullmatch(
        r"refused-01\|oncall/webhook\[0\]\|WARNING: .*\|2d4h ago\|1\|the receiver refused \(status 400\)", dead
    )
    told = json.loads(stage("list", "--json").stdout)
    assert [letter["id"] for letter in told["waiting"] + told["dead"]] == ["waits-0123456789", "refused-0123456789"]
    assert told["waiting"][0]["title"].startswith("WARNING: vLLM's queue has been long")


def test_a_letter_that_was_given_up_is_tried_again_and_survives_a_kill_in_between(stage: Stage) -> None:
    stage.put("refused-1", REFUSED)
    stage.put("refused-2", REFUSED)
    done = stage("retry", "refused-1")
    assert (done.exit_code, done.stdout) == (0, "1 tried again: see `vllm-monitor outbox list`\n")
    assert [row.id for row in stage.database.letters()] == ["refused-1"]
    assert [row.id for row in stage.database.dead_letters()] == ["refused-2"]
    stage.place.error = None
    stage.outbox.deliver_due(stage.clock.now())
    assert stage.place.arrived == ["refused-1"]
    assert stage.database.letters() == []


def test_all_means_what_waits_too(stage: Stage) -> None:
    stage.put("waits", DOWN)
    stage.put("refused", REFUSED)
    assert stage("retry", "--all").stdout.startswith("2 tried again")
    stage.place.error = None
    stage.outbox.deliver_due(stage.clock.now())
    assert sorted(stage.place.arrived) == ["refused", "waits"]


def test_what_was_given_up_a_week_ago_is_gone(stage: Stage) -> None:
    stage.put("old", REFUSED, ago=DEAD_RETENTION + SECOND)
    stage.put("young", REFUSED, ago=DEAD_RETENTION - HOUR)
    assert [row.split("|")[0] for row in stage.rows()[3:]] == ["young"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["retry", "nothing"], 1, "nothing: no letters begin so"),
        (["retry", "refused"], 1, "refused: 2 letters begin so"),
        (["retry"], 2, "give ids, or --all"),
        (["retry", "x", "--all"], 2, "give ids, or --all"),
    ],
)
def test_what_makes_no_sense_is_told(stage: Stage, arguments: list[str], code: int, message: str) -> None:
    stage.put("refused-1", REFUSED)
    stage.put("refused-2", REFUSED)
    done = stage(*arguments)
    assert done.exit_code == code
    assert message in done.output


def test_what_is_no_daemon_of_ours_is_told(stage: Stage) -> None:
    stage.running = False
    done = stage("list")
    assert (done.exit_code, done.output) == (1, "not running, or standing by for another one\n")
    good, stage.url = stage.url, "http://127.0.0.1:1"
    assert "does not answer" in stage("list").output
    stage.url = good + "/elsewhere"
    assert "this is not a daemon of this version: it answers 404" in stage("list").output


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ('{"ids": ["a"]}', {"Content-Type": "text/plain"}),
        ('{"ids": "a"}', {"Content-Type": "application/json"}),
        ("{", {"Content-Type": "application/json"}),
    ],
)
def test_only_json_of_the_right_shape_is_taken(stage: Stage, body: str, headers: dict[str, str]) -> None:
    answer = requests.post(f"{stage.url}/api/v1/outbox/retry", data=body, headers=headers, timeout=60)
    assert (answer.status_code, answer.json()["status"]) == (400, "error")


def test_a_state_file_that_cannot_be_read_is_an_error_and_no_crash(stage: Stage) -> None:
    stage.database.close()
    answer = requests.get(f"{stage.url}/api/v1/outbox", timeout=60)
    assert (answer.status_code, answer.json()["errorType"]) == (503, "unavailable")
