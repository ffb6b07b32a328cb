"""
Where an Alertmanager posts what it has to tell: `webhook_configs` of its receivers lead here.

It is answered with success only when what came of it is written down: until then Alertmanager keeps it and tries again.
"""

import hmac
import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from flask import Blueprint, Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from monitor.clock import Clock
from monitor.dispatch.dispatcher import MOST_ALERTS
from monitor.dispatch.notification import NotifyError
from monitor.dispatch.received import Message
from monitor.notify.http import Authorization
from monitor.web.alertmanager_requests import body
from monitor.web.json_fields import BodyError
from monitor.web.received_body import message
from monitor.web.routes import text
from monitor.yamldoc.mistake import shown

log = logging.getLogger(__name__)

PATH = "/alertmanager"
# Some 2,000 alerts. When a hundred servers are gone at once is no time to refuse a message, and Alertmanager does not
# try again what is too large.
LARGEST_MESSAGE_BYTES = 4 << 20
_LONGEST_SOURCE = 100
_UNAUTHORIZED, _TOO_LARGE, _UNSUPPORTED = 401, 413, 415


class Refusal(StrEnum):
    """Why a message was not taken; the label of a metric."""

    NOT_RUNNING = "not running"
    CREDENTIALS = "credentials"
    MISSHAPEN = "misshapen"
    TOO_LARGE = "too large"
    RECEIVER = "receiver"
    TOO_MANY = "too many"
    NOT_WRITTEN = "not written"


class _RefusedError(Exception):
    """A message that is not taken; the text is the answer."""

    def __init__(self, why: Refusal, status: int, what: str) -> None:
        super().__init__(what)
        self.why = why
        self.status = status


class Letterbox(Protocol):
    """What takes the messages."""

    def authorization(self) -> Authorization | None:
        """Return what whoever posts must show, None when it is nothing."""
        ...

    def receiver(self, wanted: str, said: str) -> str | None:
        """Return the receiver that is told: the one that is `wanted`, else the one that Alertmanager has `said`."""
        ...

    def has_room(self, message: Message, receiver: str) -> bool:
        """Say whether it can be held."""
        ...

    def take(self, message: Message, receiver: str) -> bool:
        """Tell the receiver; returns whether it is written down that it is to be told."""
        ...


class Posting(Protocol):
    """What the endpoint needs of the daemon."""

    def inbox(self) -> Letterbox | None:
        """Return what takes messages, or None when nothing does now."""
        ...


class ReceivedApi:
    """Two paths, with and without a receiver. `counted` hears of every message: "", or why it was refused."""

    def __init__(self, daemon: Posting, clock: Clock, counted: Callable[[str], None] = lambda _: None) -> None:
        self._daemon = daemon
        self._clock = clock
        self._counted = counted

    def blueprint(self) -> Blueprint:
        """Return the paths, for an application to register."""
        blueprint = Blueprint("received", __name__)
        blueprint.add_url_rule(PATH, "post", self.post, methods=["POST"])
        blueprint.add_url_rule(f"{PATH}/<receiver>", "post to", self.post, methods=["POST"])
        return blueprint

    def post(self, receiver: str = "") -> Response:
        try:
            self._take(receiver or request.args.get("receiver", ""))
        except _RefusedError as err:
            self._counted(err.why.value)
            # Whoever cannot show who it is may post as often as it likes.
            level = logging.DEBUG if err.why is Refusal.CREDENTIALS else logging.WARNING
            log.log(level, "an Alertmanager's message was refused", extra={"reason": str(err)})
            response = text(f"{err}\n", err.status)
            if err.status == _UNAUTHORIZED:
                response.headers["WWW-Authenticate"] = "Bearer, Basic"
            return response
        self._counted("")
        return text("")

    def _take(self, wanted: str) -> None:
        inbox = self._daemon.inbox()
        if inbox is None:
            raise _RefusedError(Refusal.NOT_RUNNING, 503, "not running, or not the active one of several")
        told = self._read(inbox)
        name = inbox.receiver(wanted, told.receiver)
        if name is None:
            raise _RefusedError(Refusal.RECEIVER, 404, f"receiver {shown(wanted)} is not defined")
        if not inbox.has_room(told, name):
            raise _RefusedError(Refusal.TOO_MANY, 503, f"more than {MOST_ALERTS} alerts would fire: try again")
        if not inbox.take(told, name):
            raise _RefusedError(Refusal.NOT_WRITTEN, 503, "the state file cannot be written: try again")

    def _read(self, inbox: Letterbox) -> Message:
        """Return what was posted, of somebody who may."""
        try:
            if not _is_shown(inbox.authorization()):
                raise _RefusedError(Refusal.CREDENTIALS, _UNAUTHORIZED, "the credentials are not those expected")
            request.max_content_length = LARGEST_MESSAGE_BYTES
            return message(body(), self._clock.now(), request.args.get("source", "")[:_LONGEST_SOURCE])
        except NotifyError as err:
            raise _RefusedError(Refusal.CREDENTIALS, 503, str(err)) from err
        except RequestEntityTooLarge as err:
            what = f"larger than {LARGEST_MESSAGE_BYTES >> 20} MiB: set max_alerts"
            raise _RefusedError(Refusal.TOO_LARGE, _TOO_LARGE, what) from err
        except BodyError as err:
            # Alertmanager's own API would say 422 of some.
            status = err.status if err.status == _UNSUPPORTED else 400
            raise _RefusedError(Refusal.MISSHAPEN, status, str(err)) from err


def _is_shown(expected: Authorization | None) -> bool:
    """Say whether the request shows what is expected. Raises NotifyError when that cannot be read."""
    if expected is None:
        return True
    scheme, _, proof = request.headers.get("Authorization", "").partition(" ")
    wanted, _, secret = expected.header().partition(" ")
    return scheme.lower() == wanted.lower() and hmac.compare_digest(proof.strip().encode(), secret.encode())
