"""A vLLM of a few paths: as a server on loopback, and without any network."""

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from monitor.probe.client import Reply
from monitor.probe.errors import ProbeError
from monitor.scrape.errors import Reason
from tests.scrape.wire import Answering, Served, head

JSON = "application/json"


def listed(**models: object) -> bytes:
    """Return the body of /v1/models that lists these models with their lengths."""
    cards = [{"id": name, "parent": None, "max_model_len": length} for name, length in models.items()]
    return json.dumps({"object": "list", "data": cards}).encode()


# What a healthy server answers.
WELL = {
    "/health": Reply(200),
    "/load": Reply(200, b'{"server_load":5}'),
    "/version": Reply(200, b'{"version":"0.32.0"}'),
    "/v1/models": Reply(200, listed(llama=8192)),
}
Replies = Mapping[str, Reply | Reason]


def routed(replies: Callable[[], Replies]) -> Answering:
    """Answer each path as `replies` says at that moment; 404 what it does not name, nothing at all to a Reason."""

    def answer(served: Served, connection: socket.socket) -> bool:
        path = served.heads[-1].split(" ")[1]
        reply = replies().get(path, Reply(404))
        if isinstance(reply, Reason):
            served.stopping.wait(100)
            return False
        told = head(len(reply.body), content_type=reply.content_type or JSON, status=f"{reply.status} Whatever")
        connection.sendall(told + reply.body)
        return True

    return answer


def paths(served: Served) -> list[str]:
    """Return what was asked for, in order."""
    return [request.split(" ")[1] for request in served.heads]


@dataclass
class FakeVllm:
    """Opens connections that answer as `replies` say; a Reason is a failure. `asked` has every path in order."""

    replies: dict[str, Reply | Reason] = field(default_factory=lambda: dict(WELL))
    is_loopback: bool = False
    asked: list[str] = field(default_factory=list)
    opened: int = 0
    closed: int = 0

    def __call__(self) -> "FakeVllm":
        self.opened += 1
        return self

    def get(self, path: str) -> Reply:
        self.asked.append(path)
        reply = self.replies.get(path, Reply(404))
        if isinstance(reply, Reason):
            answered = reply in (Reason.BODY_TOO_LARGE, Reason.STATUS)
            raise ProbeError(reply.value, reason=reply, answered=answered)
        return reply

    def post(self, path: str, body: bytes) -> Reply:
        self.asked.append(f"{path} {body.decode()}")
        return self.get(path)

    def close(self) -> None:
        self.closed += 1
