"""The methods that read a channel and those that mark a message."""

from collections.abc import Sequence
from typing import Any

from tests.slackstub.answers import Call, Payload, Refused, authorise, channel_of, need
from tests.slackstub.workspace import Posted, Workspace

_MOST = 1_000


def history(workspace: Workspace, call: Call) -> Payload:
    """Return the messages of a channel, the newest first; of replies only those that were broadcast."""
    authorise(workspace, call, "channels:history")
    need(call, "channel")
    channel = channel_of(workspace, call, by_name=False)
    oldest = float(call.payload.get("oldest", 0))
    with_metadata = str(call.payload.get("include_all_metadata", "")).lower() in ("1", "true")
    found = [
        _shown(posted, with_metadata=with_metadata)
        for posted in reversed(workspace.messages)
        if posted.channel == channel.id
        and posted.in_channel
        and float(posted.ts) > oldest
        and workspace.seconds() - posted.at >= workspace.lag
    ]
    return _page(found, call)


def replies(workspace: Workspace, call: Call) -> Payload:
    """Return a message and the replies to it, the oldest first."""
    authorise(workspace, call, "channels:history")
    need(call, "channel", "ts")
    channel = channel_of(workspace, call, by_name=False)
    root = str(call.payload["ts"])
    if workspace.message(channel.id, root) is None:
        raise Refused("thread_not_found")
    with_metadata = str(call.payload.get("include_all_metadata", "")).lower() in ("1", "true")
    found = [
        _shown(posted, with_metadata=with_metadata)
        for posted in workspace.messages
        if posted.channel == channel.id
        and (posted.ts == root or (posted.thread_ts == root and workspace.seconds() - posted.at >= workspace.lag))
    ]
    return _page(found, call)


def _page(found: Sequence[Payload], call: Call) -> Payload:
    """Return the page that is asked for; a cursor is the place of the next one."""
    start, limit = int(call.payload.get("cursor") or 0), min(int(call.payload.get("limit", 100)), _MOST)
    rest = len(found) > start + limit
    cursor = str(start + limit) if rest else ""
    page = list(found[start : start + limit])
    return {"ok": True, "messages": page, "has_more": rest, "response_metadata": {"next_cursor": cursor}}


def permalink(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, None)
    need(call, "channel", "message_ts")
    channel, ts = str(call.payload["channel"]), str(call.payload["message_ts"])
    if workspace.message(channel, ts) is None:
        raise Refused("message_not_found")
    return {
        "ok": True,
        "channel": channel,
        "permalink": f"https://stub.slack.com/archives/{channel}/p{ts.replace('.', '')}",
    }


def info(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "channels:read")
    need(call, "channel")
    channel = workspace.channels.get(str(call.payload["channel"]))
    if channel is None:
        raise Refused("channel_not_found")
    shown = {"id": channel.id, "name": channel.name, "is_archived": channel.archived, "is_member": channel.member}
    return {"ok": True, "channel": shown}


def add_reaction(workspace: Workspace, call: Call) -> Payload:
    return _react(workspace, call, add=True)


def remove_reaction(workspace: Workspace, call: Call) -> Payload:
    return _react(workspace, call, add=False)


def _react(workspace: Workspace, call: Call, *, add: bool) -> Payload:
    authorise(workspace, call, "reactions:write")
    need(call, "channel", "timestamp", "name")
    channel = channel_of(workspace, call, by_name=False)
    ts, name = str(call.payload["timestamp"]), str(call.payload["name"])
    if workspace.message(channel.id, ts) is None:
        raise Refused("message_not_found")
    known = workspace.reactions.setdefault((channel.id, ts), set())
    if (name in known) is add:
        raise Refused("already_reacted" if add else "no_reaction")
    known.symmetric_difference_update((name,))
    return {"ok": True}


def _shown(posted: Posted, *, with_metadata: bool) -> dict[str, Any]:
    shown = {key: value for key, value in posted.payload.items() if with_metadata or key != "metadata"}
    return {"type": "message", "ts": posted.ts, "bot_id": "B0STUB00000", **shown}
