"""
The Web API and the incoming webhook: what each checks, in Slack's order, and what it answers.

An answer is a status, a body and whether the body is JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.slackstub import limits
from tests.slackstub.blocks import problems, too_large
from tests.slackstub.workspace import CHANNEL, Channel, Posted, Workspace

Payload = dict[str, Any]
_NOT_CONTENT = frozenset(("token", "channel", "ts"))


class Refused(Exception):  # noqa: N818 - an answer, not an error of the stub
    """Slack's `ok: false`; `more` are further fields of the answer."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method, after its body was read."""

    method: str
    token: str | None
    payload: Payload


def authorise(workspace: Workspace, call: Call, scope: str | None) -> None:
    """Raises Refused."""
    if not call.token:
        raise Refused("not_authed")
    if call.token in workspace.revoked:
        raise Refused("token_revoked")
    scopes = workspace.tokens.get(call.token)
    if scopes is None:
        raise Refused("invalid_auth")
    if scope is not None and scope not in scopes:
        raise Refused("missing_scope", needed=scope, provided=",".join(sorted(scopes)))


def post_message(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "chat:write")
    _need(call, "channel")
    channel = _channel(workspace, call, by_name=True)
    check_content(call.payload)
    posted = workspace.post(channel.id, _content(call), call.method)
    return _done(posted)


def update(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "chat:write")
    _need(call, "channel", "ts")
    channel = _channel(workspace, call, by_name=False)
    if len(str(call.payload.get("text", ""))) > limits.UPDATE_TEXT:
        raise Refused("msg_too_long")
    check_content(call.payload)
    updated = workspace.update(channel.id, call.payload["ts"], _content(call))
    if updated is None:
        raise Refused("message_not_found")
    return _done(updated)


def auth_test(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, None)
    return {
        "ok": True,
        "url": "https://stub.slack.com/",
        "team": "stub",
        "user": "vllm-monitor",
        "bot_id": "B0STUB00000",
    }


def post_to_hook(workspace: Workspace, payload: Payload, *, known: bool) -> None:
    """Post through the incoming webhook; raises Refused. `known` says whether the URL is that of a webhook."""
    if not known:
        raise Refused("no_service")
    if workspace.channels[CHANNEL].archived:
        raise Refused("channel_is_archived")
    if not payload:
        raise Refused("invalid_payload")
    check_content(payload)
    workspace.post(CHANNEL, payload, "webhook")


METHODS: dict[str, Callable[[Workspace, Call], Payload]] = {
    "chat.postMessage": post_message,
    "chat.update": update,
    "auth.test": auth_test,
}


def check_content(payload: Payload) -> None:
    """Raises Refused for what Slack would not show."""
    if not payload.get("text") and not payload.get("blocks") and not payload.get("attachments"):
        raise Refused("no_text")
    if len(payload.get("attachments") or []) > limits.ATTACHMENTS:
        raise Refused("too_many_attachments")
    found = problems(payload)
    if found:
        raise Refused(
            "invalid_blocks",
            errors=[str(problem) for problem in found],
            response_metadata={"messages": [f"[ERROR] {problem}" for problem in found]},
        )
    if too_large(payload):
        raise Refused("msg_blocks_too_long")


def _need(call: Call, *names: str) -> None:
    missing = [name for name in names if not call.payload.get(name)]
    if missing:
        messages = [f"[ERROR] missing required field: {name}" for name in missing]
        raise Refused("invalid_arguments", response_metadata={"messages": messages})


def _channel(workspace: Workspace, call: Call, *, by_name: bool) -> Channel:
    name = str(call.payload["channel"])
    channel = workspace.find(name) if by_name else workspace.channels.get(name)
    if channel is None:
        raise Refused("channel_not_found")
    if not channel.member:
        raise Refused("not_in_channel")
    if channel.archived:
        raise Refused("is_archived")
    return channel


def _content(call: Call) -> Payload:
    return {name: value for name, value in call.payload.items() if name not in _NOT_CONTENT}


def _done(posted: Posted) -> Payload:
    return {"ok": True, "channel": posted.channel, "ts": posted.ts, "message": {**posted.payload, "ts": posted.ts}}
