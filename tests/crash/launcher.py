"""
Begins lives of the daemon, one after the other, and ends each as its plan says.

A life is a process of its own, forked from this one, which has imported the program already: that makes two hundred
lives cheap. Standard input has a plan a line; each is answered with two lines: the process id at once, at the end
whether the planned place was reached. The plans are this launcher's business alone: the program knows nothing of them.
"""

import os
import queue
import select
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

from monitor import timetable
from monitor.app import App
from monitor.clock import SystemClock
from monitor.commands.settings import loader
from monitor.commands.signals import means_reload
from monitor.config.flags import Flags
from monitor.logs import configure
from monitor.notify.outbox import Outbox
from monitor.notify.slack.bot import SlackBot
from monitor.notify.slack.channel import Channel
from monitor.notify.slack.webhook import SlackWebhook
from monitor.storage import snapshot
from monitor.storage.db import Database
from tests.crash.places import Plan

# In a life of half a second the window is saved a few times.
SAVE_EVERY = 150
# SIGTERM ends the daemon within five seconds; a busy machine gets some more.
PATIENCE_SECONDS = 60.0


class Fate:
    """Counts how often the place of the plan is passed, and kills the process when its number has come."""

    def __init__(self, plan: Plan, report: int) -> None:
        self._plan = plan
        self._report = report
        self._passed = 0
        self._lock = threading.Lock()

    def pass_(self, place: str) -> None:
        if place != self._plan.place:
            return
        with self._lock:
            self._passed += 1
            if self._passed == self._plan.n:
                os.write(self._report, b"!")
                os.kill(os.getpid(), signal.SIGKILL)

    def wrap(self, owner: Any, name: str, place: str) -> None:
        """Let `owner.name` pass a place before it, and one after it when it went well."""
        whole: Callable[..., Any] = getattr(owner, name)

        @wraps(whole)
        def wrapped(*args: Any, **named: Any) -> Any:
            self.pass_(f"before {place}")
            result = whole(*args, **named)
            self.pass_(f"after {place}")
            return result

        setattr(owner, name, wrapped)

    def install(self) -> None:
        self.wrap(Database, "commit", "commit")
        self.wrap(Database, "attempt", "attempt")
        self.wrap(Outbox, "put", "put")
        self.wrap(SlackBot, "notify", "notify")
        self.wrap(SlackWebhook, "notify", "notify")
        self.wrap(Channel, "find", "look")
        self.wrap(Channel, "post", "post")
        self.wrap(Channel, "update", "update")
        self.wrap(snapshot, "save", "snapshot")
        self._trace_statements()
        self._watch_fsync()

    def _trace_statements(self) -> None:
        connect = sqlite3.connect

        def traced(*args: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*args, **named)
            connection.set_trace_callback(lambda _: self.pass_("statement"))
            return connection

        setattr(sqlite3, "connect", traced)  # noqa: B010 - mypy will not have a function of a module assigned to

    def _watch_fsync(self) -> None:
        # Of all that runs in the process only files that are written as a whole call it; SQLite syncs by itself.
        fsync = os.fsync

        def watched(file: int) -> None:
            self.pass_("within snapshot")
            fsync(file)

        setattr(os, "fsync", watched)  # noqa: B010 - as above


def live(config: Path, plan: Plan, report: int) -> NoReturn:
    """Be the daemon until SIGTERM, or until the plan has its way."""
    code = 1
    try:
        asked: queue.SimpleQueue[int] = queue.SimpleQueue()
        signal.signal(signal.SIGTERM, lambda number, _: asked.put(number))
        configure("info")
        timetable.SAVE_EVERY = SAVE_EVERY
        Fate(plan, report).install()
        app = App(loader(config, Flags(), {}), SystemClock())
        app.start()
        means_reload(asked)
        app.stop()
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def begin(config: Path, plan: Plan) -> bool:
    """Let one life happen; returns whether it ended where it was planned."""
    reader, report = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        live(config, plan, report)
    os.close(report)
    say(process)
    handle = os.pidfd_open(process)
    if not select.select([handle], [], [], plan.seconds)[0]:
        signal.pidfd_send_signal(handle, plan.signal)
    if not select.select([handle], [], [], PATIENCE_SECONDS)[0]:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        raise SystemExit("a life did not end when it was asked to")
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    planned = os.read(reader, 1) == b"!"
    os.close(handle)
    os.close(reader)
    if code not in (-signal.SIGKILL, 0):
        raise SystemExit(f"a life ended by itself with {code}")
    return planned


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main() -> None:
    config = Path(sys.argv[1])
    for line in sys.stdin:
        say(int(begin(config, Plan.of(line))))


if __name__ == "__main__":
    main()
