"""
Socket Mode: Slack's clicks come over a connection that the daemon opens, so nobody needs to reach it.

A thread of its own keeps one link. Whatever happens to it, and whatever Slack says of the token, the rest of the daemon
does not notice.
"""

import asyncio
import contextlib
import logging
import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from monitor.clock import monotonic_seconds
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import to_seconds
from monitor.notify.failure import Reason, failure
from monitor.notify.retry import LONGEST_WAIT, wait_after
from monitor.notify.secret import Secret
from monitor.notify.slack.web_api import WebApi

if TYPE_CHECKING:
    from monitor.notify.interactive.link import Link

log = logging.getLogger(__name__)

T = TypeVar("T")

# Takes the payload of an envelope and its id; calls the third when that is written down, from any thread.
TakeIn = Callable[[Any, str, Callable[[], None]], None]

# Slack gives three seconds to acknowledge; a click that takes longer to write down is acknowledged all the same.
_ACK_WITHIN_SECONDS = 0.5
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 1.0
# A second link in a row that ends sooner counts as a failure: a refusal behind the greeting must make no storm.
_LASTING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Pace:
    """
    In seconds: how often to ping, and after how long without an answer the link counts as dead.

    `patience` is for connecting, and again for the greeting.
    """

    ping: float = 5.0
    deaf: float = 30.0
    patience: float = 10.0


class SocketMode:
    """
    Hands every interactive payload to `take_in`, from `start` to `stop`.

    `failed` hears why a link did not come about or ended early, in a word from a closed set.
    """

    def __init__(
        self,
        token: Secret,
        base_url: str,
        take_in: TakeIn,
        failed: Callable[[str], None],
        pace: Pace = Pace(),
    ) -> None:
        self._token = token
        self._api = WebApi(token, base_url)
        self._take_in = take_in
        self._failed = failed
        self._pace = pace
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="socket mode", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link: Link | None = None
        self._failures = 0

    @property
    def is_connected(self) -> bool:
        return self._link is not None

    @property
    def last_event_age(self) -> float | None:
        """Return the seconds since Slack last gave a sign of life; None while there is no link."""
        link = self._link
        return None if link is None else monotonic_seconds() - link.heard_at

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Close the link; returns soon whatever state it is in."""
        self._stopping.set()
        loop, link = self._loop, self._link
        if loop is not None and link is not None:
            # It may have ended in this moment.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(link.interrupt)
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            # Imported here: some megabytes that only a daemon with buttons needs, and an extra that may be missing.
            import monitor.notify.interactive.link  # noqa: F401
        except ImportError:
            log.error("no buttons: Socket Mode needs aiohttp, install vllm-monitor[buttons]")
            self._failed("no_aiohttp")
            return
        while not self._stopping.is_set():
            try:
                asyncio.run(self._keep())
            except Exception:  # nothing escapes a tick; it is counted
                log.exception("socket mode failed unexpectedly")
                self._failed("internal")
                self._link = None
                self._stopping.wait(to_seconds(LONGEST_WAIT))

    async def _keep(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            try:
                link = await self._connected()
            except NotifyError as err:
                await self._replace(None)
                self._failures += 1
                await self._rest(err)
                continue
            # Only now is the old one closed: a click between the two has somewhere to go.
            await self._replace(link)
            log.info("socket mode connected", extra={"failures": self._failures})
            began = monotonic_seconds()
            if self._stopping.is_set():
                # It was set before there was a link to interrupt.
                break
            if not await link.hold():
                await self._replace(None)
            await self._count_end(monotonic_seconds() - began)
        await self._replace(None)

    async def _connected(self) -> "Link":
        """Return a new link that has been greeted; raises NotifyError."""
        from monitor.notify.interactive.link import Link, LinkError

        answer = await _in_thread(lambda: self._api.ask(lambda client: client.api_call("apps.connections.open")))
        link = Link(str(answer.get("url", "")), self._handle, self._pace)
        try:
            await link.connect()
        except LinkError:
            await link.close()
            raise failure(Reason.UNREACHABLE, "no greeting on the socket") from None
        return link

    async def _replace(self, new: "Link | None") -> None:
        old, self._link = self._link, new
        if old is not None:
            await old.close()

    async def _count_end(self, lasted: float) -> None:
        if self._stopping.is_set() or lasted >= _LASTING_SECONDS:
            self._failures = 0
            return
        self._failures += 1
        if self._failures > 1:
            await self._rest(failure(Reason.UNREACHABLE, "the connection ends soon after it stands"))

    async def _rest(self, err: NotifyError) -> None:
        """Wait as the outbox would; another token is tried at once."""
        self._failed(err.reason)
        # Once, not at every attempt: the counter has the rest.
        log.log(logging.ERROR if self._failures == 1 else logging.DEBUG, "socket mode not connected: %s", err)
        seconds = to_seconds(wait_after(err, self._failures, random.random()))  # noqa: S311 - only to spread attempts
        token = self._current_token()
        for _ in range(round(seconds / _LOOK_SECONDS)):
            if self._stopping.is_set() or self._current_token() != token:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def _current_token(self) -> str:
        try:
            return self._token.get()
        except NotifyError:
            return ""

    async def _handle(self, payload: Any, envelope_id: str) -> None:
        """Return when the click is written down, or when Slack must not wait any longer."""
        loop, written = asyncio.get_running_loop(), asyncio.Event()

        def done() -> None:
            # The loop may have ended meanwhile.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(written.set)

        self._take_in(payload, envelope_id, done)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(written.wait(), _ACK_WITHIN_SECONDS)


async def _in_thread(work: Callable[[], T]) -> T:
    """
    Return what `work` returns, or raise what it raises.

    Not in asyncio's own threads: the interpreter waits for those when it ends.
    """
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result.set_result(work())
        except Exception as err:  # noqa: BLE001 - raised where it is awaited
            result.set_exception(err)

    threading.Thread(target=run, name="socket mode address", daemon=True).start()
    return await asyncio.wrap_future(result)
