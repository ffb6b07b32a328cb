"""What an Alertmanager posts: taken when it is whole, written down and shown to be theirs; refused with a reason."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask
from werkzeug.test import TestResponse

from monitor.clock import VirtualClock
from monitor.dispatch.received import Message
from monitor.model.labels import Labels
from monitor.notify.http import Authorization
from monitor.notify.secret import Secret
from monitor.web.application import LARGEST_BODY_BYTES
from monitor.web.received import ReceivedApi
from monitor.web.received_body import message
from tests.web.serving import listening

NOW = 1_796_018_705_000
DATA = Path(__file__).parents[1] / "data" / "alertmanager"
FIRING = {
    "version": "4",
    "groupKey": '{}:{alertname="A"}',
    "truncatedAlerts": 0,
    "status": "firing",
    "receiver": "team",
    "groupLabels": {"alertname": "A"},
    "externalURL": "http://am:9093",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "A", "instance": "x:1"},
            "annotations": {"summary": "It fires", "empty": ""},
            "startsAt": "2026-11-30T06:00:00.5Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://prom:9090/graph?g0.expr=up&g0.tab=1",
        }
    ],
}


class Daemon:
    """Takes what it is given, for its one receiver."""

    def __init__(self, shown: Authorization | None = None, *, written: bool = True, runs: bool = True) -> None:
        self.shown = shown
        self.written = written
        self.runs = runs
        self.taken: list[tuple[Message, str]] = []
        self.counted: list[str] = []

    def inbox(self) -> "Daemon | None":
        return self if self.runs else None

    def authorization(self) -> Authorization | None:
        return self.shown

    def receiver(self, wanted: str, said: str) -> str | None:
        return wanted if wanted == "oncall" else None if wanted else f"as {said}"

    def has_room(self, message: Message, _receiver: str) -> bool:
        return message.group_key != "one too many"

    def take(self, message: Message, receiver: str) -> bool:
        self.taken.append((message, receiver))
        return self.written

    def app(self) -> Flask:
        app = Flask("test")
        app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY_BYTES
        app.register_blueprint(ReceivedApi(self, VirtualClock(NOW), self.counted.append).blueprint())
        return app

    def post(self, path: str, body: Any, kind: str = "application/json", **headers: str) -> TestResponse:
        app = self.app()
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return app.test_client().post(path, data=data, content_type=kind, headers=headers)


def test_of_alerts_with_the_same_labels_the_last_one_counts() -> None:
    alert = json.loads(json.dumps(FIRING))["alerts"][0]
    over = {**alert, "status": "resolved", "endsAt": "2026-11-30T06:01:00Z"}
    told = message(json.dumps({**FIRING, "alerts": [alert, alert, over]}).encode(), NOW)
    assert [one.ends_at for one in told.alerts] == [1_796_018_460_000]


def test_a_message_is_read_to_the_letter() -> None:
    told = message(json.dumps(FIRING).encode(), NOW, "eu")
    (alert,) = told.alerts
    assert (told.group_key, told.receiver, told.source) == ('{}:{alertname="A"}', "team", "eu")
    assert (told.group_labels, told.external_url) == (Labels.of(alertname="A"), "http://am:9093")
    assert alert.annotations == Labels((("empty", ""), ("summary", "It fires")))
    assert (alert.starts_at, alert.ends_at) == (1_796_018_400_500, None)
    assert alert.generator_url == "http://prom:9090/graph?g0.expr=up&g0.tab=1"


def test_an_end_in_our_future_is_now() -> None:
    # The clock of the machine that Alertmanager runs on may be ahead.
    over = FIRING["alerts"][0] | {"status": "resolved", "endsAt": "2026-11-30T23:00:00Z"}  # type: ignore[index]
    assert message(json.dumps(FIRING | {"alerts": [over]}).encode(), NOW).alerts[0].ends_at == NOW


@pytest.mark.parametrize("version", ["0.25", "0.33"])
def test_what_real_alertmanagers_have_posted_is_taken(version: str) -> None:
    for body in json.loads((DATA / f"posted_by_{version.replace('.', '_')}.json").read_text()):
        told = message(json.dumps(body).encode(), NOW)
        assert len(told.alerts) == len(body["alerts"])
        assert [alert.ends_at is None for alert in told.alerts] == [one["status"] == "firing" for one in body["alerts"]]


@pytest.mark.parametrize(
    ("path", "receiver"),
    [
        ("/alertmanager", "as team"),
        ("/alertmanager/oncall", "oncall"),
        ("/alertmanager?receiver=oncall", "oncall"),
        ("/alertmanager/oncall?receiver=other", "oncall"),
    ],
)
def test_the_path_says_who_is_told(path: str, receiver: str) -> None:
    daemon = Daemon()
    assert daemon.post(path, FIRING).status_code == 200
    assert [name for _, name in daemon.taken] == [receiver]
    assert daemon.counted == [""]


def changed(**fields: Any) -> Any:
    return FIRING | fields


def with_alert(**fields: Any) -> Any:
    return FIRING | {"alerts": [FIRING["alerts"][0] | fields]}  # type: ignore[index]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(b"", "required", id="nothing"),
        pytest.param(b"{", "not JSON", id="half"),
        pytest.param(b"[]", "not an object", id="a list"),
        pytest.param(b"[" * 100_000, "not JSON", id="deep"),
        pytest.param(b"\xff", "not JSON", id="not text"),
        pytest.param(changed(version="3"), "'3'", id="another version"),
        pytest.param(changed(version=4), "is 4 and not", id="a version that is no text"),
        pytest.param(changed(groupKey=""), "groupKey", id="no key"),
        pytest.param(changed(groupKey="x" * 9_000), "groupKey", id="a long key"),
        pytest.param(changed(alerts=[]), "alerts", id="no alerts"),
        pytest.param(changed(alerts={}), "alerts", id="no list of alerts"),
        pytest.param(changed(alerts=[1]), "not an object", id="a number for an alert"),
        pytest.param(changed(truncatedAlerts="2"), "truncatedAlerts", id="no number"),
        pytest.param(changed(truncatedAlerts=-1), "truncatedAlerts", id="a negative number"),
        pytest.param(changed(truncatedAlerts=10**4000), "truncatedAlerts", id="a number beyond 64 bits"),
        pytest.param(changed(truncatedAlerts=True), "truncatedAlerts", id="a truth"),
        pytest.param(changed(groupLabels={"a": 1}), "groupLabels", id="a label that is a number"),
        pytest.param(with_alert(labels={}), "labels", id="no labels"),
        pytest.param(with_alert(status="other"), "status", id="another status"),
        pytest.param(with_alert(startsAt="yesterday"), "startsAt", id="no time"),
        pytest.param(with_alert(annotations=[]), "annotations", id="no annotations"),
    ],
)
def test_what_is_no_message_is_refused_with_a_reason_and_counted(body: Any, why: str) -> None:
    daemon = Daemon()
    answer = daemon.post("/alertmanager", body)
    assert answer.status_code == 400
    assert why in answer.text
    assert (daemon.taken, daemon.counted) == ([], ["misshapen"])


def test_a_message_of_two_thousand_alerts_is_taken_and_one_that_is_larger_is_refused_and_counted() -> None:
    """Both over a socket: what is in front of the application has a limit too."""
    one: Any = FIRING["alerts"]
    labels = ({"alertname": "A", "instance": f"{number}:1", "x": "y" * 1_700} for number in range(2_000))
    outage = [one[0] | {"labels": each} for each in labels]
    daemon = Daemon()
    with listening(daemon.app()) as server:
        url = f"http://127.0.0.1:{server.port}"
        taken = requests.post(url + "/alertmanager", json=changed(alerts=outage), timeout=60)
        refused = requests.post(url + "/alertmanager", json=changed(alerts=outage * 2), timeout=60)
    assert (taken.status_code, len(daemon.taken[0][0].alerts)) == (200, 2_000)
    assert (refused.status_code, "max_alerts" in refused.text) == (413, True)
    assert daemon.counted == ["", "too large"]


def test_a_page_cannot_post() -> None:
    daemon = Daemon()
    assert daemon.post("/alertmanager", FIRING, kind="text/plain").status_code == 415
    assert daemon.taken == []


def test_who_does_not_run_does_not_know_the_receiver_or_cannot_write_says_so() -> None:
    idle, full, other = Daemon(runs=False), Daemon(written=False), Daemon()
    assert idle.post("/alertmanager", FIRING).status_code == 503
    # Alertmanager tries again: it was told, and it may be lost if we die now.
    assert full.post("/alertmanager", FIRING).status_code == 503
    answer = other.post("/alertmanager/nobody", FIRING)
    assert (answer.status_code, "nobody" in answer.text) == (404, True)
    assert other.post("/alertmanager", changed(groupKey="one too many")).status_code == 503
    assert other.counted.pop() == "too many"
    assert [idle.counted, full.counted, other.counted] == [["not running"], ["not written"], ["receiver"]]


def basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("expected", "shown", "status"),
    [
        (Authorization(Secret("s3cret")), "Bearer s3cret", 200),
        (Authorization(Secret("s3cret")), "bearer s3cret", 200),
        (Authorization(Secret("s3cret")), "Bearer other", 401),
        (Authorization(Secret("s3cret")), "Basic s3cret", 401),
        (Authorization(Secret("s3cret")), "", 401),
        (Authorization(Secret("s3cret"), username="am"), basic("am", "s3cret"), 200),
        (Authorization(Secret("s3cret"), username="am"), basic("am", "other"), 401),
        (Authorization(Secret("s3cret"), username="am"), "Bearer s3cret", 401),
        # A file that is not there lets nobody in, and says so to whoever looks after it.
        (Authorization(Secret(file=Path("/nonexistent"))), "Bearer s3cret", 503),
    ],
)
def test_only_who_shows_what_is_expected_is_heard(expected: Authorization, shown: str, status: int) -> None:
    daemon = Daemon(expected)
    answer = daemon.post("/alertmanager", FIRING, **({"Authorization": shown} if shown else {}))
    assert answer.status_code == status
    assert len(daemon.taken) == (status == 200)
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)
    assert "s3cret" not in answer.text
