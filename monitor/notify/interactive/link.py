"""
One connection of Socket Mode: from its address to the moment when another one is needed.

The SDK's client speaks the protocol; when to connect, and with which token, is decided by whoever holds the link.
Importing this takes aiohttp (the extra `buttons`) and its memory.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from monitor.clock import monotonic_seconds
from monitor.notify.interactive.socket_mode import Pace
from monitor.notify.transport import silent_logger

# Between two looks at whether the connection is still there; what the SDK notices is known at once.
_LOOK_SECONDS = 1.0

Envelope = Callable[[Any, str], Awaitable[None]]


class LinkError(Exception):
    """The connection did not come about."""


class Link:
    """
    `handle` gets the payload and the id of every interactive envelope; when it returns, the envelope is acknowledged.

    `heard_at` is when the other side last gave a sign of life, on the monotonic clock, in seconds.
    """

    def __init__(self, address: str, handle: Envelope, pace: Pace) -> None:
        self._client = _Client(address, pace.ping)
        self._pace = pace
        self._handle = handle
        self._pong: float | None = None
        self._greeted = asyncio.Event()
        self.heard_at = monotonic_seconds()

    async def connect(self) -> None:
        """Return when Slack has said hello. Raises LinkError."""
        self._client.message_listeners.append(self._hear)
        self._client.socket_mode_request_listeners.append(self._take)
        try:
            # The SDK would try for ever, with an address that is good for one attempt.
            await asyncio.wait_for(self._client.begin(), self._pace.patience)
            await asyncio.wait_for(self._greeted.wait(), self._pace.patience)
        except TimeoutError:
            raise LinkError from None

    async def hold(self) -> bool:
        """Return when another link, or none, is needed; whether this one still works until then."""
        client = self._client
        while not client.over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(client.over.wait(), _LOOK_SECONDS)
            if client.last_ping_pong_time != self._pong:
                self._pong = client.last_ping_pong_time
                self.heard_at = monotonic_seconds()
            if client.is_gone or monotonic_seconds() - self.heard_at > self._pace.deaf:
                return False
        return not client.is_gone

    def interrupt(self) -> None:
        """Hold it no longer. For the thread of the loop."""
        self._client.over.set()

    async def close(self) -> None:
        # Of a peer that is frozen or gone nothing more is expected.
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._client.end(), 1.0)

    async def _hear(self, client: AsyncBaseSocketModeClient, message: dict[str, Any], raw: str | None = None) -> None:
        del client, raw
        self.heard_at = monotonic_seconds()
        if message.get("type") == "hello":
            self._greeted.set()

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        if request.type == "interactive":
            await self._handle(request.payload, request.envelope_id)
        # When the link broke meanwhile, Slack shows the click as failed; it has been taken all the same.
        with contextlib.suppress(Exception):
            await client.send_socket_mode_response({"envelope_id": request.envelope_id})


class _Client(SocketModeClient):
    """The SDK's client on one address: instead of connecting anew it says so, with `over`."""

    def __init__(self, address: str, ping_seconds: float) -> None:
        quiet = silent_logger()
        super().__init__("", logger=quiet, web_client=AsyncWebClient(logger=quiet), ping_interval=ping_seconds)
        # Both take a proxy from the environment, which nobody asked for.
        self.proxy = None
        self.wss_uri = address
        self.over = asyncio.Event()

    @property
    def is_gone(self) -> bool:
        return self.current_session is None or self.current_session.closed

    async def begin(self) -> None:
        await SocketModeClient.connect(self)

    async def end(self) -> None:
        await SocketModeClient.close(self)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the SDK's signature
        del force
        self.over.set()
