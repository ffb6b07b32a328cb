"""What is posted cannot fill the memory."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from monitor.clock import VirtualClock
from monitor.dispatch.dispatcher import MOST_ALERTS
from monitor.dispatch.silence import LARGEST_SILENCE_BYTES, MOST_SILENCES, Silence, Silences
from monitor.model.alert import Alert
from monitor.model.instant import HOUR, MINUTE
from monitor.model.labels import EMPTY, Labels
from monitor.model.matcher import equal
from monitor.web.alertmanager_bodies import LARGEST_ALERT_BYTES
from tests.web.alerting import NOW, FakeDaemon

CONFIG = "route: {receiver: nobody, group_by: [alertname]}\nreceivers: [{name: nobody}]\n"
SPAN = {"startsAt": "2026-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z"}


@pytest.fixture
def daemon(tmp_path: Path) -> FakeDaemon:
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    return FakeDaemon(tmp_path / "monitor.yaml", VirtualClock(NOW))


@pytest.fixture
def client(daemon: FakeDaemon) -> FlaskClient:
    return daemon.application().test_client()


def posted(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [{"labels": {"alertname": "Down", "i": str(number)}} | more for number in numbers]


def silence(comment: str = "why", **more: str) -> dict[str, Any]:
    matchers = [{"name": "a", "value": "b", "isRegex": False}]
    return {"matchers": matchers, "createdBy": "me", "comment": comment, **SPAN} | more


def test_too_many_alerts_are_refused_but_not_those_that_are_known_nor_those_of_the_rules(
    daemon: FakeDaemon, client: FlaskClient
) -> None:
    full = posted(*range(MOST_ALERTS))
    assert client.post("/api/v2/alerts", json=full).status_code == 200
    refused = client.post("/api/v2/alerts", json=posted(0, -1, -2))
    assert (refused.status_code, refused.json) == (
        429,
        f"exceeded maximum number of alerts: 2 left out (limit: {MOST_ALERTS})",
    )
    assert daemon.limited == [("alerts", 2)]
    assert client.post("/api/v2/alerts", json=posted(7)).status_code == 200
    daemon.dispatcher.insert([Alert(Labels.of(alertname="Rule"), EMPTY, NOW)], NOW)
    assert len(client.get("/api/v2/alerts").json or ()) == MOST_ALERTS + 1


def test_what_is_over_makes_room_as_soon_as_its_group_has_been_flushed(daemon: FakeDaemon, client: FlaskClient) -> None:
    numbers = range(MOST_ALERTS)
    client.post("/api/v2/alerts", json=posted(*numbers))
    client.post("/api/v2/alerts", json=posted(*numbers, endsAt="2026-11-30T06:05:05Z"))
    assert client.post("/api/v2/alerts", json=posted(-1)).status_code == 429
    daemon.dispatcher.due(NOW + MINUTE)
    assert client.post("/api/v2/alerts", json=posted(-1)).status_code == 200


def test_an_alert_that_is_too_large_is_refused_and_the_others_are_taken(client: FlaskClient) -> None:
    large = posted(1, annotations={"summary": "ä" * (LARGEST_ALERT_BYTES // 2)})
    answer = client.post("/api/v2/alerts", json=large + posted(2))
    size = LARGEST_ALERT_BYTES + len("alertnameDowni1summary")
    assert (answer.status_code, answer.json) == (
        400,
        f"exceeded maximum size: {size} bytes (limit: {LARGEST_ALERT_BYTES} bytes)",
    )
    assert [alert["labels"]["i"] for alert in client.get("/api/v2/alerts").json or ()] == ["2"]


def test_too_many_silences_are_refused_but_a_change_is_not(tmp_path: Path) -> None:
    def known(number: int) -> Silence:
        name = f"c3c9b722-c689-4062-9ceb-{number:012}"
        return Silence(name, (equal("a", "b"),), NOW - HOUR, NOW + HOUR, "me", "why")

    (tmp_path / "monitor.yaml").write_text(CONFIG)
    silences = Silences(known(number) for number in range(MOST_SILENCES))
    daemon = FakeDaemon(tmp_path / "monitor.yaml", VirtualClock(NOW), silences)
    client = daemon.application().test_client()
    refused = client.post("/api/v2/silences", json=silence())
    assert (refused.status_code, refused.json) == (
        429,
        f"exceeded maximum number of silences: {MOST_SILENCES + 1} (limit: {MOST_SILENCES})",
    )
    assert daemon.limited == [("silences", 1)]
    one = known(7)
    starts_at = (client.get(f"/api/v2/silence/{one.id}").json or {})["startsAt"]
    longer = silence(id=one.id, startsAt=starts_at)
    assert client.post("/api/v2/silences", json=longer).json == {"silenceID": one.id}


def test_a_silence_that_is_too_large_is_refused(client: FlaskClient) -> None:
    refused = client.post("/api/v2/silences", json=silence("c" * LARGEST_SILENCE_BYTES))
    assert refused.status_code == 413
    assert str(refused.json).endswith(f" bytes (limit: {LARGEST_SILENCE_BYTES} bytes)")
    assert client.get("/api/v2/silences").json == []
