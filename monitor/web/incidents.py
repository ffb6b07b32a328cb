"""What became of the alerts that Slack bots told of, at `/api/v1/incidents`: who acknowledged each, and when."""

from collections.abc import Sequence
from typing import Any, Protocol

from flask import Blueprint, Response, request

from monitor.clock import Clock
from monitor.model.instant import DAY, Duration, Instant
from monitor.notify.slack.handled import Handled
from monitor.storage.db import StateError
from monitor.web.answer import Answer, failure
from monitor.web.error import ApiError, ErrorType
from monitor.web.parameters import time_of
from monitor.web.views import timestamp

Json = dict[str, Any]
_USUAL: Duration = 7 * DAY


class HandlingDaemon(Protocol):
    """What the path needs of the daemon."""

    def handled(self, after: Instant, until: Instant) -> Sequence[Handled] | None:
        """Return what fired some time in between, None when nothing runs. Raises StateError."""
        ...


class IncidentsApi:
    """Without `start` and `end` it is the last seven days."""

    def __init__(self, daemon: HandlingDaemon, clock: Clock) -> None:
        self._daemon = daemon
        self._clock = clock

    def blueprint(self) -> Blueprint:
        """Return the path, for an application to register."""
        blueprint = Blueprint("incidents", __name__, url_prefix="/api/v1/incidents")
        blueprint.add_url_rule("", "GET incidents", self.get, methods=["GET"])
        blueprint.register_error_handler(StateError, _unreadable)
        return blueprint

    def get(self) -> Response:
        until = time_of(request.args, "end", self._clock.now())
        after = time_of(request.args, "start", until - _USUAL)
        found = self._daemon.handled(after, until)
        if found is None:
            raise ApiError("not running, or standing by for another one", ErrorType.UNAVAILABLE)
        return Answer([_shown(one) for one in found]).response()


def _shown(one: Handled) -> Json:
    return {
        "labels": one.labels.as_dict(),
        "startsAt": timestamp(one.starts_at),
        "endsAt": _if_any(one.ends_at),
        "toldAt": timestamp(one.told_at),
        "ackedAt": _if_any(one.acked_at),
        "ackedBy": one.acked_by,
        "integration": one.integration,
        "incident": one.incident,
        "episode": one.episode,
    }


def _if_any(at: Instant | None) -> str | None:
    return None if at is None else timestamp(at)


def _unreadable(err: StateError) -> Response:
    return failure(ApiError(str(err), ErrorType.UNAVAILABLE))
