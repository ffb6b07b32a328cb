"""The letters at `/api/v1/outbox`, in the manner of Prometheus' API: what waits, what was given up, and another try."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

from flask import Blueprint, Response, request

from monitor.dispatch.dispatcher import Delivery
from monitor.notify.letter import DeadLetter, Letter
from monitor.notify.summary import summarise
from monitor.storage.db import StateError
from monitor.web.answer import Answer, failure
from monitor.web.error import ApiError, ErrorType
from monitor.web.views import timestamp

Json = dict[str, Any]


class Letters(Protocol):
    """The letters of the daemon; what reads the state file raises StateError."""

    def waiting(self) -> Sequence[Letter]: ...

    def dead(self) -> Sequence[DeadLetter]: ...

    def retry(self, ids: Collection[str]) -> Sequence[str]:
        """Try these again now; returns the ids of those that can be."""
        ...


class PostingDaemon(Protocol):
    """What the paths need of the daemon."""

    def post_office(self) -> Letters | None:
        """Return its letters, or None when nothing runs."""
        ...


class OutboxApi:
    """One method a path."""

    def __init__(self, daemon: PostingDaemon) -> None:
        self._daemon = daemon

    def blueprint(self) -> Blueprint:
        """Return the paths, for an application to register."""
        blueprint = Blueprint("outbox", __name__, url_prefix="/api/v1/outbox")
        blueprint.add_url_rule("", "GET outbox", self.get, methods=["GET"])
        blueprint.add_url_rule("/retry", "POST retry", self.retry, methods=["POST"])
        blueprint.register_error_handler(StateError, _unreadable)
        return blueprint

    def get(self) -> Response:
        letters = self._letters()
        return Answer(
            {
                "waiting": [_waiting(letter) for letter in letters.waiting()],
                "dead": [_dead(letter) for letter in letters.dead()],
            }
        ).response()

    def retry(self) -> Response:
        """Take `{"ids": [...]}`; answers with the ids that are tried, and an error when one is not known."""
        ids = frozenset(_ids())
        tried = self._letters().retry(ids)
        unknown = sorted(ids.difference(tried))
        if unknown:
            raise ApiError(f"nothing waits or can be tried again under {', '.join(unknown)}")
        return Answer({"tried": sorted(tried)}).response()

    def _letters(self) -> Letters:
        letters = self._daemon.post_office()
        if letters is None:
            raise ApiError("not running, or standing by for another one", ErrorType.UNAVAILABLE)
        return letters


def _ids() -> Iterator[str]:
    # As with silences: a browser does not let a foreign page say that it posts JSON.
    body = request.get_json(silent=True) if request.mimetype == "application/json" else None
    ids = body.get("ids") if isinstance(body, dict) else None
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise ApiError('the body must be JSON: {"ids": ["…"]}')
    yield from ids


def _waiting(letter: Letter) -> Json:
    return _delivery(letter.delivery) | {
        "since": timestamp(letter.since),
        "attempts": letter.attempts,
        "nextTry": timestamp(letter.not_before),
        "lastError": letter.error,
        "fallbackTold": letter.diverted,
    }


def _dead(letter: DeadLetter) -> Json:
    return _delivery(letter.delivery) | {
        "givenUp": timestamp(letter.at),
        "attempts": letter.attempts,
        "lastError": letter.error,
    }


def _delivery(delivery: Delivery) -> Json:
    told = delivery.notification
    return {
        "id": told.id,
        "integration": delivery.integration,
        "group": told.group_key,
        "title": summarise(told).title,
        "firing": len(told.firing),
        "resolved": len(told.resolved),
        "fallback": told.fallback,
    }


def _unreadable(err: StateError) -> Response:
    return failure(ApiError(str(err), ErrorType.UNAVAILABLE))
