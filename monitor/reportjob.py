"""The report that the daemon posts by a schedule: made by a child process, posted by a worker."""

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.bulletins import boards_of
from monitor.config.config import Config
from monitor.config.receiving import ReceiverConfig
from monitor.config.reporting import ReportConfig
from monitor.dispatch.notification import NotifyError
from monitor.model.instant import MINUTE, Duration, Instant, slot_at_or_before, to_seconds
from monitor.notify.slack.bulletin import Bulletin, Paragraph, picture_of
from monitor.notify.slack.workspace import Workspace
from monitor.report.period import week_before
from monitor.workers import Workers

log = logging.getLogger(__name__)

KEY = "report"
# -P: no module of the folder the daemon was started in takes the place of one of Python's.
COMMAND = (sys.executable, "-P", "-m", "monitor.report")
TIMEOUT: Duration = 10 * MINUTE
# The environment may hold tokens: the child gets what Python and matplotlib look at, and nothing else.
_PASSED = ("HOME", "LD_LIBRARY_PATH", "MPLCONFIGDIR", "PATH", "PYTHONPATH", "TMPDIR", "XDG_CACHE_HOME", "TZDIR")


@dataclass(frozen=True, slots=True)
class OwnWay:
    """How a child asks the daemon: its URL, what lets it in, and a Unix socket past TLS, "" where there is none."""

    url: str
    token: str = field(repr=False)
    inner: str = ""


class MakeError(Exception):
    """The child made no report."""


@dataclass
class ReportJob:
    """
    Posts a report when it is asked to; `own` is how the daemon itself is asked.

    It takes neither the time nor the memory of what it runs beside: no alert waits for a report. `count` hears why one
    was not posted, or "" when it stands.
    """

    config: Config
    wanted: ReportConfig
    own: OwnWay
    workspace: Workspace
    workers: Workers
    count: Callable[[str], None]
    command: Sequence[str] = COMMAND
    _last: Instant = field(default=0, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def schedule(self) -> str:
        return self.wanted.schedule

    @property
    def timezone(self) -> str:
        return self.wanted.timezone

    def tick(self, now: Instant) -> None:
        """Have the report of the week before `now` made and posted; never waits for it."""
        minute = slot_at_or_before(now, MINUTE)
        # A clock that was set back comes by the same time again.
        if minute <= self._last:
            return
        self._last = minute
        if not self.workers.submit(KEY, lambda: self._make(minute)):
            self.count("busy")

    def stop(self) -> None:
        """Give up what is being made or posted."""
        self._stopping.set()
        process = self._process
        if process is not None:
            process.kill()

    def _make(self, end: Instant) -> None:
        try:
            made = self._made(end)
            bulletin, png = _bulletin(made["bulletin"]), b64decode(made["png"])
        except MakeError as err:
            log.error("no report", extra={"reason": str(err)})
            self.count("not_made")
        except Exception:  # a job of a worker must not raise
            log.exception("report failed unexpectedly")
            self.count("internal")
        else:
            self._post(bulletin, png)

    def _post(self, bulletin: Bulletin, png: bytes) -> None:
        picture = picture_of(png, bulletin.title) if png else None
        base_url, workspace = self.config.global_.slack_base_url, self.workspace
        for receiver in self._receivers():
            for name, board in boards_of(receiver, base_url, workspace.pace, workspace.now, self._pause):
                try:
                    board.put_up(bulletin, picture)
                except NotifyError as err:
                    log.error("report not posted", extra={"integration": name, "reason": str(err)})
                    self.count(err.reason)
                except Exception:  # one board must not keep it from the others
                    log.exception("report failed unexpectedly")
                    self.count("internal")
                else:
                    self.count("")

    def _receivers(self) -> Iterator[ReceiverConfig]:
        name = self.wanted.receiver or self.config.route.receiver
        return (one for one in self.config.receivers if one.name == name)

    def _pause(self, duration: Duration) -> bool:
        return not self._stopping.wait(to_seconds(duration))

    def _made(self, end: Instant) -> dict[str, Any]:
        """Return what the child says. Raises MakeError."""
        period = week_before(end)
        wanted = {
            "url": self.own.url,
            "token": self.own.token,
            "inner": self.own.inner,
            "start": period.start,
            "end": period.end,
            "zone": self.wanted.timezone,
            "input_limit": self.wanted.input_limit,
        }
        environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
        pipe = subprocess.PIPE
        try:
            # The command is ours, and no shell reads it.
            self._process = subprocess.Popen(  # noqa: S603
                self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
            )
            with self._process as process:
                if self._stopping.is_set():
                    process.kill()
                return _exchanged(process, json.dumps(wanted).encode())
        except OSError as err:
            raise MakeError(f"no child process: {err.strerror}") from err
        finally:
            self._process = None


def _exchanged(process: "subprocess.Popen[bytes]", wanted: bytes) -> dict[str, Any]:
    """Hand over what is wanted and return what comes back. Raises MakeError, also for what the child complains of."""
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    assert process.stdout is not None  # noqa: S101 - the same
    timer = threading.Timer(to_seconds(TIMEOUT), process.kill)
    timer.daemon = True
    timer.start()
    try:
        # Less than a pipe holds: it never waits for the child.
        with contextlib.suppress(BrokenPipeError), process.stdin as given:
            given.write(wanted)
        answer = process.stdout.read()
        code = process.wait()
    finally:
        timer.cancel()
    if code != 0:
        raise MakeError(f"the child ended with {code}")
    made: dict[str, Any] = json.loads(answer)
    if "reason" in made:
        raise MakeError(made["reason"])
    return made


def _bulletin(given: dict[str, Any]) -> Bulletin:
    paragraphs = tuple(
        Paragraph(one["heading"], tuple((name, text) for name, text in one["rows"])) for one in given["paragraphs"]
    )
    return Bulletin(given["id"], given["title"], paragraphs, given["more"])
