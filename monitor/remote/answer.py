"""
What a server answers.

reference: Prometheus 3, docs/querying/api.md. Thanos answers with what it could reach, and says in `warnings` what it
could not; VictoriaMetrics says `isPartial`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from monitor.remote.errors import Reason, RemoteError

# What Prometheus remarks about an expression that it has evaluated over all the data there is.
_REMARKS = ("PromQL warning:", "PromQL info:")
_LONGEST = 300
_TOO_MANY, _UNAVAILABLE = 429, 503
_FORBIDDEN = (401, 403)
_LATER = (408, 425, _TOO_MANY, 500, 502, _UNAVAILABLE, 504)
# With any other status it is not the question that is wrong. VictoriaMetrics has no word of its own for what is.
_OF_THE_QUESTION = (200, 400, 422)


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The `data` of an answer.

    `partial` says why something may be missing from it, "" when all is there.
    """

    data: Any
    warnings: Sequence[str] = ()
    infos: Sequence[str] = ()
    partial: str = ""


def understood(status: int, body: bytes, name: str) -> Answer:
    """Return what the server `name` has answered. Raises RemoteError."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or answer.get("status") not in ("success", "error"):
        raise _no_answer(status, name)
    if answer["status"] == "error":
        raise _refused(status, answer, name)
    warnings, infos = _texts(answer.get("warnings")), _texts(answer.get("infos"))
    missing = [warning for warning in warnings if not warning.startswith(_REMARKS)]
    if answer.get("isPartial") is True:
        missing.append("some of its storage did not answer")
    return Answer(answer.get("data"), warnings, infos, "; ".join(missing)[:_LONGEST])


def _no_answer(status: int, name: str) -> RemoteError:
    if status in _FORBIDDEN:
        return RemoteError(f"{name} answers {status}: it wants other credentials", reason=Reason.CREDENTIALS)
    if status in _LATER:
        return RemoteError(f"{name} answers {status}", reason=Reason.STATUS, retryable=True)
    what = f"{name} does not speak the Prometheus HTTP API: it answers {status}"
    return RemoteError(what, reason=Reason.NOT_PROMETHEUS)


def _refused(status: int, answer: dict[str, Any], name: str) -> RemoteError:
    kind, text = str(answer.get("errorType") or ""), str(answer.get("error") or "no reason given")[:_LONGEST]
    if status in _FORBIDDEN:
        return RemoteError(f"{name}: {text}", reason=Reason.CREDENTIALS, kind=kind)
    # The words are the server's: a query that takes too long there, or one that it has no time for.
    if kind in ("timeout", "canceled"):
        return RemoteError(f"{name}: {text}", reason=Reason.TIMEOUT, kind=kind)
    if kind in ("unavailable", "internal", "server_error", "too_many_requests") or status in _LATER:
        return RemoteError(f"{name}: {text}", reason=Reason.STATUS, kind=kind, retryable=True)
    reason = Reason.REFUSED if status in _OF_THE_QUESTION else Reason.NOT_PROMETHEUS
    return RemoteError(f"{name}: {text}", reason=reason, kind=kind)


def _texts(given: Any) -> tuple[str, ...]:
    return tuple(str(one)[:_LONGEST] for one in given) if isinstance(given, list) else ()
