"""
Socket Mode on the loopback: links that are opened with a ticket, envelopes, and every way in which a link can end.

`with SocketMode(stub) as sockets:` lets `apps.connections.open` of the stub hand out its addresses.
"""

import asyncio
import json
import socket
import struct
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import WSMsgType, web

from tests.slackstub.clicks import clicked
from tests.slackstub.stub import SlackStub

MOST_LINKS = 10
# What Slack gives; a machine that does three things at once may take longer.
ACK_SECONDS = 3.0
# For what is over at once, unless the machine is busy.
_PATIENCE_SECONDS = 60


@dataclass
class Link:
    """One connection; frozen, it reads nothing, answers no ping and is sent nothing."""

    socket: web.WebSocketResponse
    transport: Any
    frozen: bool = False


class SocketMode:
    """Runs in a thread with a loop of its own; every method may be called from the test's thread."""

    def __init__(self, stub: SlackStub) -> None:
        self._stub = stub
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="socket mode stub", daemon=True)
        self._started = threading.Event()
        self._tickets: set[str] = set()
        self._number = 0
        self._links: list[Link] = []
        self._sent_at: dict[str, float] = {}
        self._port = 0
        # Envelope → seconds from its being sent to its acknowledgement.
        self.acks: dict[str, list[float]] = {}
        # When each link was opened, in monotonic seconds.
        self.openings: list[float] = []
        # Whoever opens one more is asked to go, right behind the greeting.
        self.most_links = MOST_LINKS
        # The least number of links since the first one.
        self.fewest = MOST_LINKS

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(_PATIENCE_SECONDS)
        self._stub.workspace.open_socket = self._open
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stub.workspace.open_socket = None
        self._call(self._end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE_SECONDS)
        self._loop.close()

    @property
    def opened(self) -> int:
        return len(self.openings)

    @property
    def links(self) -> int:
        """How many links are open and alive."""
        return len(self._alive())

    def click(
        self, action_id: str, *, ts: str | None = None, user: str = "U0ALICE001", action_ts: str | None = None
    ) -> str:
        """
        Click a button of the message that stands there now (of the newest with that button, unless `ts` is given).

        Returns the envelope's id. AssertionError when no such button is shown.
        """
        return self.send(clicked(self._stub.workspace, action_id, ts=ts, user=user, action_ts=action_ts))

    def send(self, payload: Any, *, envelope_id: str | None = None, kind: str = "interactive") -> str:
        """Send an envelope to one of the live links; returns its id."""
        self._number += 1
        envelope = envelope_id or f"envelope-{self._number}"
        self._sent_at.setdefault(envelope, time.monotonic())
        body = {"envelope_id": envelope, "type": kind, "accepts_response_payload": False, "payload": payload}
        self.say(json.dumps(body))
        return envelope

    def say(self, text: str) -> None:
        """Send any text to the newest live link."""
        self._call(self._alive()[-1].socket.send_str(text))

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask the client to connect anew: `warning`, `refresh_requested`, `link_disabled`, `too_many_websockets`."""
        self.say(json.dumps({"type": "disconnect", "reason": reason, "debug_info": {"host": "stub"}}))

    def close(self) -> None:
        """End all links in the orderly way."""
        self._call(self._end_all())

    def reset(self) -> None:
        """End all links with a reset."""
        for link in self._alive():
            connected = link.transport.get_extra_info("socket")
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._loop.call_soon_threadsafe(link.transport.abort)

    def freeze(self) -> None:
        """Let all links stay open and answer nothing."""
        for link in self._alive():
            link.frozen = True
            self._loop.call_soon_threadsafe(link.transport.pause_reading)

    def late(self) -> list[str]:
        """Return the envelopes that were not acknowledged, or not even in ten times the time that Slack gives."""
        return [one for one in self._sent_at if not self.acks.get(one) or self.acks[one][0] > 10 * ACK_SECONDS]

    def _alive(self) -> list[Link]:
        return [link for link in self._links if not link.frozen and not link.socket.closed]

    def _open(self) -> str:
        self._number += 1
        ticket = f"ticket-{self._number}"
        self._tickets.add(ticket)
        return f"ws://127.0.0.1:{self._port}/link?ticket={ticket}"

    def _call(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        application = web.Application()
        application.router.add_get("/link", self._link)
        runner = web.AppRunner(application, access_log=None)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0)
        self._loop.run_until_complete(site.start())
        self._port = runner.addresses[0][1]
        self._started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())

    async def _link(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.remove(ticket)
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        link = Link(answer, request.transport)
        self._links.append(link)
        self.openings.append(time.monotonic())
        hello = {"type": "hello", "num_connections": self.links, "debug_info": {"approximate_connection_time": 18060}}
        await answer.send_str(json.dumps(hello))
        if self.links > self.most_links:
            await answer.send_str(json.dumps({"type": "disconnect", "reason": "too_many_websockets"}))
        async for message in answer:
            if message.type is WSMsgType.TEXT and not link.frozen:
                self._acknowledged(json.loads(message.data))
        self.fewest = min(self.fewest, self.links)
        return answer

    def _acknowledged(self, body: dict[str, Any]) -> None:
        envelope = str(body.get("envelope_id"))
        self.acks.setdefault(envelope, []).append(time.monotonic() - self._sent_at[envelope])

    async def _end_all(self) -> None:
        for link in self._links:
            if link.frozen:
                link.transport.abort()
            else:
                await link.socket.close()
