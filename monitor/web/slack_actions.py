"""
The clicks that Slack posts to us: for those who have an address that Slack reaches and want no Socket Mode.

reference: Slack, interactivity: a form whose `payload` is JSON, signed, to be answered within three seconds.
"""

import json
import threading
from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import parse_qs

from flask import Blueprint, Response, request

from monitor.clock import Clock
from monitor.notify.interactive.signature import Seen, is_signed
from monitor.notify.secret import Secret
from monitor.web.routes import text

PATH = "/slack/actions"
# A click comes with the whole message; Slack's messages are far smaller.
_LARGEST_BODY_BYTES = 256 * 1024
# Slack waits three seconds, the way there and back included.
ANSWER_WITHIN_SECONDS = 1.5


class ClickTaker(Protocol):
    """What the endpoint needs of the daemon."""

    def signing_secret(self) -> Secret | None:
        """Return what Slack signs with, or None when nobody wants clicks this way."""
        ...

    def take_in(self, payload: Any, envelope_id: str, written: Callable[[], None]) -> None:
        """Take what came; `written` is called when it is decided and written down."""
        ...


class SlackActions:
    """One path; a request that is not signed, not new or not whole changes nothing."""

    def __init__(self, taker: ClickTaker, clock: Clock, answer_within: float = ANSWER_WITHIN_SECONDS) -> None:
        self._taker = taker
        self._clock = clock
        self._answer_within = answer_within
        self._seen = Seen()

    def blueprint(self) -> Blueprint:
        """Return the path, for an application to register."""
        blueprint = Blueprint("slack", __name__)
        blueprint.add_url_rule(PATH, "actions", self.actions, methods=["POST"])
        return blueprint

    def actions(self) -> Response:
        secret = self._taker.signing_secret()
        if secret is None:
            return text("404 page not found\n", 404)
        if (request.content_length or 0) > _LARGEST_BODY_BYTES:
            return text("too large\n", 413)
        body, now = request.get_data(cache=False), self._clock.now()
        if not is_signed(secret, body, dict(request.headers), now):
            return text("not signed\n", 401)
        if not self._seen.is_new(dict(request.headers), now):
            return text("")
        payload = _payload(body)
        if payload is None:
            return text("no payload\n", 400)
        written = threading.Event()
        self._taker.take_in(payload, "", written.set)
        written.wait(self._answer_within)
        return text("")


def _payload(body: bytes) -> Any:
    """Return the decoded payload, or None when there is none."""
    try:
        (written,) = parse_qs(body.decode(), max_num_fields=10).get("payload", [])
        return json.loads(written)
    except (ValueError, RecursionError):
        return None
