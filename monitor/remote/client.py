"""Questions to one server: a few at a time, each with another attempt where that may help."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from queue import Empty, LifoQueue
from urllib.parse import urlencode

from monitor.clock import monotonic_seconds
from monitor.model.instant import Instant, from_seconds, to_seconds
from monitor.remote.answer import Answer, understood
from monitor.remote.connection import Connection, Reply
from monitor.remote.errors import Reason, RemoteError
from monitor.remote.options import RemoteOptions

# Seconds before another attempt; there are as many of those as there is time for.
WAITS = (0.2, 0.8)

# Is told what the server's clock says at each answer, in milliseconds: a whole second, cut off.
Dated = Callable[[Instant], None]


class Client:
    """Asks a server. Any thread may use it."""

    def __init__(
        self,
        options: RemoteOptions,
        *,
        seconds: Callable[[], float] = monotonic_seconds,
        wait: Callable[[float], object] | None = None,
        dated: Dated = lambda _: None,
    ) -> None:
        self.options = options
        self._seconds = seconds
        self._wait = wait or threading.Event().wait
        self._dated = dated
        self._idle: LifoQueue[Connection] = LifoQueue()
        for _ in range(options.connections):
            self._idle.put(Connection(options, seconds))

    @property
    def name(self) -> str:
        """Return the URL without anything that is secret."""
        return self.options.name

    def query(self, expr: str, at: Instant, seconds: float | None = None) -> Answer:
        """Return the answer to an instant query, within the timeout or so many `seconds`. Raises RemoteError."""
        # To VictoriaMetrics `nocache` says that the time is meant as it is, not half a minute earlier.
        form = {"query": expr, "time": str(to_seconds(at)), "nocache": "1", **self.options.params}
        return self._asked("/api/v1/query", form, seconds)

    def query_range(
        self, expr: str, start: Instant, end: Instant, step: Instant, seconds: float | None = None
    ) -> Answer:
        """The same from `start` to `end`, both included."""
        times = {"start": str(to_seconds(start)), "end": str(to_seconds(end)), "step": str(to_seconds(step))}
        form = {"query": expr, **times, "nocache": "1", **self.options.params}
        return self._asked("/api/v1/query_range", form, seconds)

    def get(self, path: str, pairs: Sequence[tuple[str, str]] = (), seconds: float | None = None) -> Answer:
        """Return the answer to GET on a path of the API. Raises RemoteError."""
        query = urlencode([*pairs, *self.options.params.items()])
        return self._asked(path + (f"?{query}" if query else ""), None, seconds)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _asked(self, path: str, form: Mapping[str, str] | None, seconds: float | None) -> Answer:
        end = self._seconds() + (to_seconds(self.options.timeout) if seconds is None else seconds)
        with self._connection(end) as connection:
            for pause in WAITS:
                try:
                    return self._once(connection, path, form, end)
                except RemoteError as err:
                    if not err.retryable or self._seconds() + pause >= end:
                        raise
                self._wait(pause)
            return self._once(connection, path, form, end)

    def _once(self, connection: Connection, path: str, form: Mapping[str, str] | None, end: float) -> Answer:
        left = end - self._seconds()
        if left <= 0:
            raise self._late()
        reply = connection.exchange(path, form, left)
        self._tell_date(reply)
        return understood(reply.status, reply.body, self.name)

    def _tell_date(self, reply: Reply) -> None:
        try:
            self._dated(from_seconds(parsedate_to_datetime(reply.headers["Date"]).timestamp()))
        except (KeyError, ValueError):
            return

    @contextmanager
    def _connection(self, end: float) -> Iterator[Connection]:
        try:
            connection = self._idle.get(timeout=max(end - self._seconds(), 0))
        except Empty:
            raise self._late() from None
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def _late(self) -> RemoteError:
        return RemoteError(f"{self.name} did not answer in time", reason=Reason.TIMEOUT)
