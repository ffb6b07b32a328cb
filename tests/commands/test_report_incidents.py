"""Who is asked who acknowledged what: a daemon knows, a Prometheus and whoever else answers do not."""

import json
from typing import Any

import pytest
import requests

from monitor.commands.report_incidents import handlings
from monitor.model.instant import MINUTE
from monitor.model.labels import Labels
from monitor.report.handling import Handling
from monitor.report.period import Period

START = 1_793_577_600_000
PERIOD = Period(START, START + 60 * MINUTE)
LINE = {"labels": {"alertname": "A"}, "startsAt": "2026-11-02T00:10:00.000Z", "ackedAt": None}


def reply(status: int, body: str) -> requests.Response:
    made = requests.Response()
    made.status_code, made._content = status, body.encode()
    return made


def test_the_daemon_is_asked_for_the_period() -> None:
    asked: list[tuple[str, str, Any]] = []

    def exchange(method: str, url: str, **named: Any) -> requests.Response:
        asked.append((method, url, named["params"]))
        return reply(200, json.dumps({"status": "success", "data": [LINE]}))

    assert handlings("http://d:9109/", PERIOD, exchange) == [Handling(Labels.of(alertname="A"), START + 10 * MINUTE)]
    assert asked == [("GET", "http://d:9109/api/v1/incidents", {"start": 1_793_577_600.0, "end": 1_793_581_200.0})]


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, "404 page not found\n"), (200, "<html>"), (200, "[]"), (200, '{"data": {}}'), (503, '{"data": []}')],
)
def test_whoever_does_not_know_is_no_mistake(status: int, body: str) -> None:
    assert handlings("http://p:9090", PERIOD, lambda *_, **__: reply(status, body)) is None


def test_a_server_that_is_gone_by_then_is_none_either() -> None:
    def gone(*_: object, **__: object) -> requests.Response:
        raise requests.ConnectionError

    assert handlings("http://p:9090", PERIOD, gone) is None
