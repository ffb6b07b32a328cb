"""The methods behind the buttons: opening a socket, and telling one person only."""

from tests.slackstub.answers import Call, Payload, Refused, authorise, channel_of, limit, need
from tests.slackstub.workspace import Whisper, Workspace


def open_connection(workspace: Workspace, call: Call) -> Payload:
    """Return the address of a socket; it takes an app's token, no bot's."""
    if not call.token:
        raise Refused("not_authed")
    if call.token in workspace.tokens:
        raise Refused("not_allowed_token_type")
    if call.token not in workspace.app_tokens:
        raise Refused("invalid_auth")
    limit(workspace, call.method, "")
    if workspace.open_socket is None:
        raise Refused("internal_error")
    return {"ok": True, "url": workspace.open_socket()}


def post_ephemeral(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "chat:write")
    need(call, "channel", "user")
    channel = channel_of(workspace, call, by_name=True)
    if not call.payload.get("text"):
        raise Refused("no_text")
    workspace.whispers.append(Whisper(channel.id, str(call.payload["user"]), str(call.payload["text"])))
    return {"ok": True, "message_ts": "1.000001"}
