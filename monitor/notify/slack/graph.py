"""
A graph in the thread of each new incident: drawn and uploaded after its message stands, by a thread of its own.

Whatever becomes of it, no alert waits for it.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from monitor.dispatch.notification import Notification, NotifyError
from monitor.model.instant import MINUTE, SECOND, Duration, Instant, to_seconds
from monitor.notify.failure import Reason
from monitor.notify.slack.channel import Place
from monitor.notify.slack.classify import RefusedError
from monitor.notify.slack.digest import is_digest
from monitor.notify.slack.incident import Incident
from monitor.notify.slack.upload import SCOPE, Picture, Upload

log = logging.getLogger(__name__)

# In a flood most graphs would come when nobody looks for them any more.
MOST_WAITING = 20
MOST_ATTEMPTS = 3
_FIRST_WAIT: Duration = SECOND
_LONGEST_WAIT: Duration = MINUTE


class PaintError(Exception):
    """There is no picture; `reason` is a word from a closed set, fit for a metric label."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Painter(Protocol):
    """Draws what a notification is about. Called from one thread."""

    def paint(self, told: Notification, at: Instant) -> Picture | None:
        """Return the picture as of `at`, None where there is nothing to draw; raises PaintError."""
        ...

    def stop(self) -> None:
        """Give up what is being drawn, and draw nothing any more."""
        ...


class Graphs:
    """
    The graphs of all bots, one after the other. At rest, without a thread, until the first one is put in.

    `report` hears why a graph failed, or "" when one stands in its thread.
    """

    def __init__(self, painter: Painter, now: Callable[[], Instant], report: Callable[[str], None]) -> None:
        self.painter = painter
        self.now = now
        self.report = report
        self._waiting: deque[tuple[BotGraphs, Incident]] = deque()
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()
        self._stopping = threading.Event()

    def put(self, bot: "BotGraphs", incident: Incident) -> None:
        """Take an incident whose message stands; returns at once."""
        with self._changed:
            if self._stopping.is_set():
                return
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append((bot, incident))
                self._changed.notify()
                self._start()
                return
        self.report("too_many")

    def stop(self) -> None:
        """Make no graph any more; what is under way is given up."""
        self._stopping.set()
        self.painter.stop()
        with self._changed:
            self._waiting.clear()
            self._changed.notify()

    def pause(self, duration: Duration) -> bool:
        """Wait; returns whether to go on."""
        return not self._stopping.wait(to_seconds(duration))

    def _start(self) -> None:
        if self._thread is None:
            # A daemon thread: an upload that hangs does not hold up the end.
            self._thread = threading.Thread(target=self._work, name="graphs", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as err:
                self._thread = None
                log.error("no thread for graphs", extra={"reason": str(err)})

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._stopping.is_set():
                    self._changed.wait()
                if self._stopping.is_set():
                    return
                bot, incident = self._waiting.popleft()
            try:
                bot.make(incident)
            except Exception:  # one graph must not take the others with it
                log.exception("a graph failed unexpectedly")
                self.report("internal")


class BotGraphs:
    """The graphs of the bot `name`: one when an incident opens, none for a digest and what is told in it."""

    def __init__(self, name: str, upload: Upload, graphs: Graphs) -> None:
        self._name = name
        self._upload = upload
        self._graphs = graphs
        self._is_allowed: bool | None = None
        self._reasons: set[str] = set()

    def opened(self, incident: Incident) -> None:
        """The message of an incident stands; returns at once."""
        # A message in the place of another one has its graph in the thread of that.
        if incident.is_open and not incident.roots and not incident.digest and not is_digest(incident):
            self._graphs.put(self, incident)

    def make(self, incident: Incident) -> None:
        """Draw and upload; failures are counted, and told once each."""
        try:
            if not self._may_upload():
                return
            picture = self._graphs.painter.paint(incident.told, self._graphs.now())
            if picture is not None:
                self._share(picture, Place(incident.channel, incident.ts))
                self._graphs.report("")
        except (PaintError, NotifyError) as err:
            if isinstance(err, RefusedError) and err.code == "missing_scope":
                self._forbid()
            else:
                self._failed(err.reason, str(err))

    def _may_upload(self) -> bool:
        # Looked at before the first one is drawn, which costs more than asking.
        if self._is_allowed is None:
            self._is_allowed = self._upload.is_allowed()
            if not self._is_allowed:
                self._forbid()
        return self._is_allowed

    def _forbid(self) -> None:
        self._is_allowed = False
        missing = f"the bot lacks the scope {SCOPE}"
        self._failed(
            Reason.CREDENTIAL, f"{missing}: add it to the app, install the app again and reload, or set graphs: false"
        )

    def _share(self, picture: Picture, root: Place) -> None:
        for attempt in range(1, MOST_ATTEMPTS + 1):
            try:
                self._upload.share(picture, root)
            except NotifyError as err:
                wait = err.retry_after or _FIRST_WAIT << (attempt - 1)
                # What may stand there already would stand there twice.
                final = err.doubtful or not err.retryable or attempt == MOST_ATTEMPTS or wait > _LONGEST_WAIT
                if final or not self._graphs.pause(wait):
                    raise
            else:
                return

    def _failed(self, reason: str, message: str) -> None:
        self._graphs.report(reason)
        level = logging.DEBUG if reason in self._reasons else logging.WARNING
        self._reasons.add(reason)
        log.log(level, "no graph: %s", message, extra={"integration": self._name})
