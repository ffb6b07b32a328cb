"""`/api/v1/incidents`: what Slack bots told of, and who acknowledged it when."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flask import Flask

from monitor.clock import VirtualClock
from monitor.model.instant import DAY, MINUTE, Instant
from monitor.model.labels import Labels
from monitor.notify.slack.handled import Handled
from monitor.storage.db import StateError
from monitor.web.answer import failure
from monitor.web.error import ApiError
from monitor.web.incidents import IncidentsApi

NOW: Instant = 1_796_018_705_000
LABELS = Labels.of(alertname="VLLMOverloaded", instance="a:8000")
OPEN = Handled("oncall/slack[0]", "abc", 2, LABELS, NOW - 9 * MINUTE, None, NOW - 8 * MINUTE, NOW - MINUTE, "Ada")


@dataclass
class FakeDaemon:
    answer: Sequence[Handled] | None = ()
    error: str = ""
    asked: list[tuple[Instant, Instant]] = field(default_factory=list)

    def handled(self, after: Instant, until: Instant) -> Sequence[Handled] | None:
        if self.error:
            raise StateError(self.error)
        self.asked.append((after, until))
        return self.answer


def get(daemon: FakeDaemon, query: str = "") -> tuple[int, Any]:
    app = Flask("test")
    app.register_blueprint(IncidentsApi(daemon, VirtualClock(NOW)).blueprint())
    app.register_error_handler(ApiError, failure)
    response = app.test_client().get(f"/api/v1/incidents{query}")
    return response.status_code, response.json


def test_each_alert_has_its_line() -> None:
    daemon = FakeDaemon([OPEN])
    status, told = get(daemon)
    assert status == 200
    assert told["data"] == [
        {
            "labels": {"alertname": "VLLMOverloaded", "instance": "a:8000"},
            "startsAt": "2026-11-30T05:56:05.000Z",
            "endsAt": None,
            "toldAt": "2026-11-30T05:57:05.000Z",
            "ackedAt": "2026-11-30T06:04:05.000Z",
            "ackedBy": "Ada",
            "integration": "oncall/slack[0]",
            "incident": "abc",
            "episode": 2,
        }
    ]
    assert daemon.asked == [(NOW - 7 * DAY, NOW)]


def test_a_time_can_be_asked_for() -> None:
    daemon = FakeDaemon()
    assert get(daemon, "?start=2026-11-01T00:00:00Z&end=1793577600")[0] == 200
    assert daemon.asked == [(1_793_491_200_000, 1_793_577_600_000)]
    assert get(daemon, "?start=yesterday")[0] == 400


def test_where_nothing_can_be_read_it_says_so() -> None:
    assert get(FakeDaemon(None))[0] == 503
    status, told = get(FakeDaemon(error="monitor.db: disk I/O error"))
    assert (status, told["error"]) == (503, "monitor.db: disk I/O error")
