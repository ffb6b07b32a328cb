"""Clicks over HTTP: what Slack signed is taken, once; everything else is refused and changes nothing."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from monitor.clock import VirtualClock
from monitor.notify.secret import Secret
from monitor.web.slack_actions import PATH, SlackActions
from tests.slackstub.clicks import SIGNING_SECRET, headers, signed

NOW = 1_796_018_705_000
PAYLOAD = {"type": "block_actions", "actions": []}


class Daemon:
    """Takes what is given to it; writes it down at once, unless it is `slow`."""

    def __init__(self, secret: Secret | None = None, *, slow: bool = False) -> None:
        self.secret = secret
        self.slow = slow
        self.taken: list[Any] = []

    def signing_secret(self) -> Secret | None:
        return self.secret

    def take_in(self, payload: Any, envelope_id: str, written: Callable[[], None]) -> None:
        assert envelope_id == ""
        self.taken.append(payload)
        if not self.slow:
            written()


def poster(daemon: Daemon) -> Callable[[bytes, dict[str, str]], TestResponse]:
    app = Flask("test")
    app.register_blueprint(SlackActions(daemon, VirtualClock(NOW), answer_within=0.1).blueprint())
    client = app.test_client()
    return lambda body, head: client.post(PATH, data=body, headers=head)


def test_a_signed_click_is_taken_and_taken_once() -> None:
    daemon = Daemon(Secret(SIGNING_SECRET))
    post = poster(daemon)
    body, head = signed(PAYLOAD, NOW / 1_000)
    assert [post(body, head).status_code, post(body, head).status_code] == [200, 200]
    assert daemon.taken == [PAYLOAD]


@pytest.mark.parametrize(
    ("body", "head", "status"),
    [
        pytest.param(*signed(PAYLOAD, NOW / 1_000 - 301), 401, id="too old"),
        pytest.param(*signed(PAYLOAD, NOW / 1_000, "other"), 401, id="another secret"),
        pytest.param(signed(PAYLOAD, 0)[0] + b"x", signed(PAYLOAD, NOW / 1_000)[1], 401, id="another body"),
        pytest.param(b"payload={}", headers(b"payload={}", "abc"), 401, id="no time"),
        pytest.param(b"\xff", headers(b"\xff", str(NOW // 1_000)), 401, id="not UTF-8"),
        pytest.param(b"payload={}", {}, 401, id="not signed"),
        pytest.param(b"", headers(b"", str(NOW // 1_000)), 400, id="empty"),
        pytest.param(b"payload=%7B", headers(b"payload=%7B", str(NOW // 1_000)), 400, id="no JSON"),
        pytest.param(b"payload=1&payload=2", headers(b"payload=1&payload=2", str(NOW // 1_000)), 400, id="two"),
        pytest.param(*signed("x" * 300_000, NOW / 1_000), 413, id="too large"),
    ],
)
def test_what_is_not_slacks_is_refused(body: bytes, head: dict[str, str], status: int) -> None:
    daemon = Daemon(Secret(SIGNING_SECRET))
    assert poster(daemon)(body, head).status_code == status
    assert daemon.taken == []


def test_a_payload_of_any_depth_is_refused_in_good_order() -> None:
    body = b"payload=" + b"[" * 100_000
    assert poster(Daemon(Secret(SIGNING_SECRET)))(body, headers(body, str(NOW // 1_000))).status_code == 400


def test_without_a_secret_there_is_no_such_path() -> None:
    daemon = Daemon()
    assert poster(daemon)(*signed(PAYLOAD, NOW / 1_000)).status_code == 404
    assert daemon.taken == []


def test_slack_is_answered_in_time_by_a_slow_disk() -> None:
    daemon = Daemon(Secret(SIGNING_SECRET), slow=True)
    assert poster(daemon)(*signed(PAYLOAD, NOW / 1_000)).status_code == 200
    assert json.dumps(daemon.taken) == json.dumps([PAYLOAD])
