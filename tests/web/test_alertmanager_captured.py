"""GET /api/v2/alerts as it was recorded of Alertmanager 0.25: inhibited, silenced and active alerts."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.dispatch.alerting import Alerting
from monitor.dispatch.silence import Silences
from monitor.model.instant import HOUR, to_seconds
from tests.web.alerting import NOW, FakeDaemon

CAPTURED = json.loads((Path(__file__).parents[1] / "data" / "alertmanager" / "captured_025.json").read_text())


@pytest.fixture
def answered(tmp_path: Path) -> list[dict[str, Any]]:
    config = yaml.safe_load(CAPTURED["config"])
    config["receivers"] = [{"name": receiver["name"]} for receiver in config["receivers"]]
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(config))
    client = (
        FakeDaemon(tmp_path / "monitor.yaml", silences=Silences(new_id=lambda: CAPTURED["silence"]))
        .application()
        .test_client()
    )
    keys = ("labels", "annotations", "generatorURL")
    posted = [{key: alert[key] for key in keys} for alert in CAPTURED["alerts"]]
    assert client.post("/api/v2/alerts", json=posted).status_code == 200
    silence = {
        "matchers": [
            {"name": "alertname", "value": "A", "isRegex": False},
            {"name": "i", "value": "3", "isRegex": False},
        ],
        "startsAt": rfc3339(NOW),
        "endsAt": rfc3339(NOW + HOUR),
        "createdBy": "me",
        "comment": "",
    }
    assert client.post("/api/v2/silences", json=silence).get_json() == {"silenceID": CAPTURED["silence"]}
    found: list[dict[str, Any]] = client.get("/api/v2/alerts").get_json()
    return found


def rfc3339(at: int) -> str:
    return datetime.fromtimestamp(to_seconds(at), UTC).isoformat()


def test_alerts_are_shown_as_they_were_recorded(answered: list[dict[str, Any]]) -> None:
    for alert in answered:
        assert alert["status"].pop("mutedBy") == []
    assert [{key: alert[key] for key in CAPTURED["alerts"][0]} for alert in answered] == CAPTURED["alerts"]


def test_a_daemon_that_does_not_run_says_so(tmp_path: Path) -> None:
    class Stopped(FakeDaemon):
        def alerting(self) -> Alerting | None:
            return None

    (tmp_path / "monitor.yaml").write_text("route: {receiver: a}\nreceivers: [{name: a}]\n")
    answer = Stopped(tmp_path / "monitor.yaml").application().test_client().get("/api/v2/alerts")
    assert (answer.status_code, answer.get_json()) == (503, "not running, or standing by for another one")
