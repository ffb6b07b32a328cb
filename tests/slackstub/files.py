"""Uploading in three steps, and taking back: a file, or a message."""

from dataclasses import replace

from tests.slackstub import limits
from tests.slackstub.answers import Call, Payload, Refused, authorise, channel_of, need
from tests.slackstub.workspace import File, Workspace

UPLOADS = "/upload/v1/"


def upload_url(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "files:write")
    need(call, "filename", "length")
    given = call.payload
    alt = str(given.get("alt_txt") or "")
    if int(given["length"]) <= 0 or len(alt) > limits.FILE_ALT:
        raise Refused("invalid_arguments")
    identity = f"F0STUB{len(workspace.files):05d}"
    file = File(identity, str(given["filename"]), int(given["length"]), alt=alt)
    workspace.files[file.id] = file
    return {"ok": True, "upload_url": f"{workspace.origin}{UPLOADS}{file.id}", "file_id": file.id}


def receive(workspace: Workspace, path: str, content: bytes) -> int:
    """Take the bytes of a file; returns the status of the answer."""
    file = workspace.files.get(path.removeprefix(UPLOADS))
    if file is None or len(content) != file.length:
        return 400
    workspace.files[file.id] = replace(file, content=content, at=workspace.seconds())
    return 200


def complete(workspace: Workspace, call: Call) -> Payload:
    """Share files in a channel, or a thread of it; a channel takes an ID only."""
    authorise(workspace, call, "files:write")
    need(call, "files")
    channel = ""
    if call.payload.get("channel_id"):
        given = replace(call, payload={"channel": call.payload["channel_id"]})
        channel = channel_of(workspace, given, by_name=False).id
    for one in call.payload["files"]:
        file = workspace.files.get(one["id"])
        if file is None or not file.content:
            raise Refused("file_not_found")
        thread = str(call.payload.get("thread_ts", ""))
        workspace.files[file.id] = replace(file, channel=channel, thread_ts=thread, title=str(one.get("title", "")))
    return {"ok": True, "files": [{"id": one["id"], "title": one.get("title", "")} for one in call.payload["files"]]}


def info(workspace: Workspace, call: Call) -> Payload:
    """Tell of a file; it has a type when it has been processed."""
    authorise(workspace, call, "files:read")
    need(call, "file")
    file = workspace.files.get(str(call.payload["file"]))
    if file is None:
        raise Refused("file_not_found")
    kind = "image/png" if workspace.is_ready(file.id) else ""
    return {"ok": True, "file": {"id": file.id, "name": file.name, "size": file.length, "mimetype": kind}}


def delete_file(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "files:write")
    need(call, "file")
    if workspace.files.pop(str(call.payload["file"]), None) is None:
        raise Refused("file_not_found")
    return {"ok": True}


def delete_message(workspace: Workspace, call: Call) -> Payload:
    authorise(workspace, call, "chat:write")
    need(call, "channel", "ts")
    channel = channel_of(workspace, call, by_name=False)
    found = workspace.message(channel.id, str(call.payload["ts"]))
    if found is None:
        raise Refused("message_not_found")
    workspace.messages.remove(found)
    return {"ok": True, "channel": channel.id, "ts": found.ts}
