"""
The Web API and the incoming webhook: what each checks, in Slack's order, and what it answers.

An answer is a status, a body and whether the body is JSON.
"""

import json
from collections.abc import Callable
from typing import Any

from tests.slackstub import apps, conversations, files, limits
from tests.slackstub.answers import Call, Payload, Refused, authorise, channel_of, limit, need
from tests.slackstub.blocks import files_of, problems, too_large
from tests.slackstub.workspace import CHANNEL, Posted, Workspace

_NOT_CONTENT = frozenset(("token", "channel", "ts"))


def post_message(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "chat:write")
    need(call, "channel")
    channel = channel_of(workspace, call, by_name=True)
    check_content(call.payload)
    _check_files(workspace, call.payload)
    thread = str(call.payload.get("thread_ts", ""))
    root = workspace.message(channel.id, thread) if thread else None
    # A reply has no thread of its own.
    if thread and (root is None or root.thread_ts):
        raise Refused("thread_not_found")
    content = _content(call)
    if len(str(content.get("text", ""))) <= limits.TEXT:
        return _done(workspace.post(channel.id, content, call.method))
    content["text"] = content["text"][: limits.TEXT]
    return {**_done(workspace.post(channel.id, content, call.method)), "warning": "message_truncated"}


def update(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "chat:write")
    need(call, "channel", "ts")
    channel = channel_of(workspace, call, by_name=False)
    if len(str(call.payload.get("text", ""))) > limits.UPDATE_TEXT:
        raise Refused("msg_too_long")
    check_content(call.payload)
    _check_files(workspace, call.payload)
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
    limit(workspace, "webhook", CHANNEL)
    check_content(payload)
    workspace.post(CHANNEL, payload, "webhook")


METHODS: dict[str, Callable[[Workspace, Call], Payload]] = {
    "chat.postMessage": post_message,
    "chat.update": update,
    "auth.test": auth_test,
    "conversations.history": conversations.history,
    "conversations.info": conversations.info,
    "conversations.replies": conversations.replies,
    "chat.getPermalink": conversations.permalink,
    "reactions.add": conversations.add_reaction,
    "reactions.remove": conversations.remove_reaction,
    "apps.connections.open": apps.open_connection,
    "chat.postEphemeral": apps.post_ephemeral,
    "chat.delete": files.delete_message,
    "files.getUploadURLExternal": files.upload_url,
    "files.completeUploadExternal": files.complete,
    "files.info": files.info,
    "files.delete": files.delete_file,
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
    _check_metadata(payload.get("metadata"))


def _check_files(workspace: Workspace, payload: Payload) -> None:
    if not all(map(workspace.is_ready, files_of([payload.get("blocks"), payload.get("attachments")]))):
        raise Refused("invalid_blocks", errors=["invalid slack file"])


def _check_metadata(metadata: Any) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise Refused("invalid_metadata_format")
    values = metadata.get("event_payload")
    if not isinstance(values, dict) or any(isinstance(value, dict | list) for value in values.values()):
        raise Refused("invalid_metadata_schema")
    if len(json.dumps(metadata)) > limits.METADATA_BYTES:
        raise Refused("metadata_too_large")


def _content(call: Call) -> Payload:
    return {name: value for name, value in call.payload.items() if name not in _NOT_CONTENT}


def _done(posted: Posted) -> Payload:
    return {"ok": True, "channel": posted.channel, "ts": posted.ts, "message": {**posted.payload, "ts": posted.ts}}
