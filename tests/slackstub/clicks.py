"""What Slack sends when somebody clicks a button of a message that stands in the workspace; and its signature."""

import hashlib
import hmac
import json
import time
from typing import Any
from urllib.parse import urlencode

from tests.slackstub.workspace import Posted, Workspace

SIGNING_SECRET = "0123456789abcdef0123456789abcdef"
_TEAM = {"id": "T0STUB00000", "domain": "stub"}


def clicked(
    workspace: Workspace,
    action_id: str,
    *,
    ts: str | None = None,
    user: str = "U0ALICE001",
    action_ts: str | None = None,
) -> dict[str, Any]:
    """Return the payload; AssertionError when no message (or not that of `ts`) shows such a button now."""
    for message in reversed(workspace.messages):
        button = button_of(message, action_id) if ts in (None, message.ts) else None
        if button is not None:
            return _payload(message, button, user, action_ts or f"{time.time():.6f}")
    raise AssertionError(f"no message shows the button {action_id}")


def button_of(message: Posted, action_id: str) -> dict[str, Any] | None:
    """Return the button of a message, wherever it stands in it."""
    content: list[Any] = [message.payload]
    while content:
        part = content.pop()
        if isinstance(part, dict):
            if part.get("type") == "button" and part.get("action_id") == action_id:
                return part
            content += part.values()
        elif isinstance(part, list):
            content += part
    return None


def signed(payload: Any, now: float, secret: str = SIGNING_SECRET) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of the request that brings `payload` over HTTP; `now` in seconds."""
    body = urlencode({"payload": json.dumps(payload)}).encode()
    return body, headers(body, str(int(now)), secret)


def headers(body: bytes, timestamp: str, secret: str = SIGNING_SECRET) -> dict[str, str]:
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {
        "X-Slack-Signature": f"v0={digest}",
        "X-Slack-Request-Timestamp": timestamp,
        "Content-Type": "application/x-www-form-urlencoded",
    }


def _payload(message: Posted, button: dict[str, Any], user: str, action_ts: str) -> dict[str, Any]:
    action = {**button, "block_id": "stub", "action_ts": action_ts}
    return {
        "type": "block_actions",
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": _TEAM["id"]},
        "api_app_id": "A0STUB00000",
        "token": "deprecated",
        "container": {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": message.channel,
            "is_ephemeral": False,
        },
        "trigger_id": "1.2.3",
        "team": _TEAM,
        "channel": {"id": message.channel, "name": "alerts"},
        "message": {"type": "message", "ts": message.ts, **message.payload},
        "state": {"values": {}},
        "response_url": "https://hooks.slack.com/actions/T0STUB00000/1/notARealSecret",
        "actions": [action],
    }
