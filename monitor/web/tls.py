"""
TLS in front of the HTTP server: connections are accepted and decrypted here, and handed on over a socket of our own.

The HTTP server speaks no TLS; the loop of the standard library does, with time limits of its own.
"""

import asyncio
import contextlib
import logging
import resource
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

HANDSHAKE_SECONDS = 10.0
# A peer that reads nothing for so long is given up.
STALLED_SECONDS = 60.0
MOST_CONNECTIONS = 500
# Of the descriptors that the process may have, connections take half: each has three. The rest is for scrapes.
_DESCRIPTORS = 6
_CHUNK_BYTES = 64 * 1024
_BACKLOG = 128
_TURNS = 3


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files in PEM, and what is asked of a client; `minimum` and `maximum` are versions of TLS."""

    cert_file: Path
    key_file: Path
    client_ca_file: Path | None = None
    verify: ssl.VerifyMode = ssl.CERT_NONE
    minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    maximum: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED

    def context(self) -> ssl.SSLContext:
        """Return how TLS is spoken; raises OSError, which ssl.SSLError is, or ValueError when a file is unusable."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = self.minimum, self.maximum
        # No password is asked for: the daemon has no terminal.
        context.load_cert_chain(self.cert_file, self.key_file, password=_no_password)
        if self.client_ca_file is not None:
            context.load_verify_locations(self.client_ca_file)
        context.verify_mode = self.verify
        return context

    def stamp(self) -> tuple[tuple[int, ...], ...]:
        """
        Return what changes when a file does. Raises OSError.

        The owner and who may read it change no time but that of the inode (ctime).
        """
        paths = (self.cert_file, self.key_file, *((self.client_ca_file,) if self.client_ca_file else ()))
        found = (path.stat() for path in paths)
        return tuple((one.st_mtime_ns, one.st_ctime_ns, one.st_size, one.st_ino) for one in found)


def _no_password() -> bytes:
    raise ValueError("the key is encrypted")


class Renewed:
    """The context of files that change: a renewed certificate counts for the next connection."""

    def __init__(self, files: TlsFiles) -> None:
        """Raise OSError or ValueError when a file cannot be used."""
        self._files = files
        self._stamp: tuple[tuple[int, ...], ...] | None = files.stamp()
        self._context = files.context()

    def context(self) -> ssl.SSLContext:
        """Return the context of the newest files that can be used; what is wrong with newer ones is told once."""
        try:
            stamp = self._files.stamp()
        except OSError as err:
            stamp, problem = None, str(err)
        else:
            problem = "" if stamp == self._stamp else self._renew()
        if problem and stamp != self._stamp:
            log.error("certificate not renewed", extra={"reason": problem})
        # Also when it fails: half of a renewal is looked at again when the other half is there.
        self._stamp = stamp
        return self._context

    def _renew(self) -> str:
        """Return why it was not possible, or ""."""
        try:
            self._context = self._files.context()
        except (OSError, ValueError) as err:
            return str(err)
        return ""


class TlsFront:
    """
    Accepts TLS on one address and hands what is said on to a Unix socket, until stopped.

    `failed` hears of each connection that got no further than its handshake. Raises OSError when the address cannot be
    bound, and what `Renewed` does.
    """

    def __init__(self, files: TlsFiles, address: tuple[str, int], inner: Path, failed: Callable[[], None]) -> None:
        self._renewed = Renewed(files)
        self._inner = inner
        self._failed = failed
        self._most = min(MOST_CONNECTIONS, _descriptors() // _DESCRIPTORS)
        self._sockets = _bound(*address)
        self.port: int = self._sockets[0].getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._connections: set[asyncio.Task[None]] = set()
        # Those whose task has not begun: when it is cancelled, it never does.
        self._accepted: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._run, name="tls", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Close all connections."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        else:
            self._close()

    def _run(self) -> None:
        for one in self._sockets:
            self._loop.create_task(self._accept(one))
        try:
            self._loop.run_forever()
        finally:
            self._close()

    def _close(self) -> None:
        for one in self._sockets:
            one.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(self._ended(tasks))
        for one in self._accepted:
            one.close()
        self._loop.close()

    @staticmethod
    async def _ended(tasks: Iterable["asyncio.Task[Any]"]) -> None:
        await asyncio.gather(*tasks, return_exceptions=True)
        # What was aborted is closed in a turn of the loop; TLS takes one more, for what it lies on.
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = await self._loop.sock_accept(listening)
            except OSError as err:
                # No descriptor is left, or the peer went away in the queue: others come.
                log.warning("connection not accepted", extra={"reason": err.strerror})
                await asyncio.sleep(0.1)
                continue
            if len(self._connections) >= self._most:
                connection.close()
                continue
            self._accepted.add(connection)
            task = self._loop.create_task(self._serve(connection))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

    async def _serve(self, connection: socket.socket) -> None:
        self._accepted.discard(connection)
        reader = asyncio.StreamReader(limit=_CHUNK_BYTES, loop=self._loop)
        protocol = _Protocol(reader, loop=self._loop)
        try:
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=self._renewed.context(),
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
            )
        except OSError:
            connection.close()
            self._failed()
            return
        except asyncio.CancelledError:
            protocol.abort()
            raise
        writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
        try:
            with contextlib.suppress(OSError, TimeoutError):
                await self._hand_on(reader, writer)
        finally:
            transport.abort()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(self._inner, limit=_CHUNK_BYTES)
        asked = asyncio.ensure_future(_pump(reader, inner_writer))
        try:
            # What was asked may end first, by a peer that waits for the rest of its answer.
            if await _pump(inner_reader, writer):
                writer.close()
                async with asyncio.timeout(HANDSHAKE_SECONDS):
                    await writer.wait_closed()
        finally:
            asked.cancel()
            # Before the wait, which the end of all may cut short.
            inner_writer.transport.abort()
            await asyncio.gather(asked, return_exceptions=True)


class _Protocol(asyncio.StreamReaderProtocol):
    """Knows its transport from the end of the handshake on, before whoever waits for that goes on."""

    _made: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._made = transport
        super().connection_made(transport)

    def abort(self) -> None:
        """Close at once: what has spoken TLS would wait for the peer's good-bye."""
        if self._made is not None:
            self._made.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """
    Hand on what comes until there is no more, and say so where that can be said; returns whether anything came.

    Raises OSError, TimeoutError.
    """
    came = False
    while chunk := await reader.read(_CHUNK_BYTES):
        came = True
        writer.write(chunk)
        async with asyncio.timeout(STALLED_SECONDS):
            await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    return came


def _descriptors() -> int:
    """Return how many the process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def _bound(host: str, port: int) -> list[socket.socket]:
    """Return a listening socket for each address that the name stands for. Raises OSError."""
    found: list[socket.socket] = []
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, _, _, _, address in dict.fromkeys(addresses):
            # One free port for all of them.
            place = (address[0], found[0].getsockname()[1] if found and port == 0 else port, *address[2:])
            one = socket.socket(family, socket.SOCK_STREAM)
            found.append(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(place)
            one.listen(_BACKLOG)
            one.setblocking(False)
    except OSError:
        for one in found:
            one.close()
        raise
    return found
