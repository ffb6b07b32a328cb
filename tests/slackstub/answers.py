"""What every method of the Web API shares: a call, a refusal, and the checks in Slack's order."""

from dataclasses import dataclass
from typing import Any

from tests.slackstub.workspace import Channel, Workspace

Payload = dict[str, Any]


class Refused(Exception):  # noqa: N818 - an answer, not an error of the stub
    """Slack's `ok: false`; `more` are further fields of the answer."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more


class LimitedError(Refused):
    """Slack's status 429: called too often, not before `retry_after` seconds again."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method, after its body was read."""

    method: str
    token: str | None
    payload: Payload


def authorise(workspace: Workspace, call: Call, scope: str | None) -> None:
    """Look at the token, then at its scopes, then at how often the method was called. Raises Refused."""
    if not call.token:
        raise Refused("not_authed")
    if call.token in workspace.revoked:
        raise Refused("token_revoked")
    scopes = workspace.tokens.get(call.token)
    if scopes is None:
        raise Refused("invalid_auth")
    if scope is not None and scope not in scopes:
        raise Refused("missing_scope", needed=scope, provided=",".join(sorted(scopes)))
    limit(workspace, call.method, str(call.payload.get("channel", "")))


def limit(workspace: Workspace, method: str, channel: str) -> None:
    """Raises LimitedError when the method was called too often."""
    known = workspace.find(channel)
    wait = workspace.rates.spend(method, known.id if known is not None else channel, workspace.seconds())
    if wait:
        raise LimitedError(wait)


def need(call: Call, *names: str) -> None:
    """Raises Refused when an argument is missing."""
    missing = [name for name in names if not call.payload.get(name)]
    if missing:
        messages = [f"[ERROR] missing required field: {name}" for name in missing]
        raise Refused("invalid_arguments", response_metadata={"messages": messages})


def channel_of(workspace: Workspace, call: Call, *, by_name: bool) -> Channel:
    """Return the channel of a call; raises Refused. Only posting takes a name instead of an ID."""
    name = str(call.payload["channel"])
    channel = workspace.find(name) if by_name else workspace.channels.get(name)
    if channel is None:
        raise Refused("channel_not_found")
    if not channel.member:
        raise Refused("not_in_channel")
    if channel.archived:
        raise Refused("is_archived")
    return channel
