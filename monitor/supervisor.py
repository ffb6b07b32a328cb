"""What systemd is told of the daemon's life: ready, reloading, stopping, and that it still does its work."""

import logging
import os
import socket
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass

from monitor.clock import monotonic_microseconds
from monitor.model.instant import SECOND, Duration, Instant

log = logging.getLogger(__name__)

SOCKET, WATCHDOG, WATCHDOG_PID = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
# A sign of life this many times within what the unit allows, so that one that comes late costs nothing.
OFTEN = 3
_LEAST: Duration = SECOND


@dataclass(frozen=True, slots=True)
class Supervisor:
    """
    Speaks the protocol of sd_notify(3) to the socket at `address`; without one, to nobody.

    `watchdog` is how often a sign of life is due, 0 when nobody waits for it. Whatever becomes of a message, the daemon
    goes on.
    """

    address: str = ""
    watchdog: Duration = 0

    @classmethod
    def taken_from(cls, environment: MutableMapping[str, str]) -> "Supervisor":
        """Return who supervises this process; the variables are taken out, so that no child speaks in its name."""
        address, microseconds, pid = (environment.pop(name, "") for name in (SOCKET, WATCHDOG, WATCHDOG_PID))
        # An abstract address is written with an @ in front.
        address = "\0" + address[1:] if address.startswith("@") else address
        ours = address and microseconds.isdecimal() and pid in ("", str(os.getpid()))
        due = int(microseconds) // 1000 // OFTEN if ours else 0
        return cls(address, max(due, _LEAST) if due else 0)

    def ready(self) -> None:
        self._tell("READY=1")

    def reloading(self) -> None:
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={monotonic_microseconds()}")

    def stopping(self) -> None:
        self._tell("STOPPING=1")

    def alive(self) -> None:
        self._tell("WATCHDOG=1")

    def _tell(self, state: str) -> None:
        if not self.address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to:
                to.settimeout(1.0)
                to.connect(self.address)
                to.sendall(state.encode())
        except OSError as err:
            log.warning("systemd cannot be told", extra={"state": state.partition("\n")[0], "reason": str(err)})


NOBODY = Supervisor()


class Feeding:
    """
    Gives the sign of life at every tick of the timetable while the rules go on.

    A thread of its own that did so would say that there is a thread. A slot of rules that never ends, or a timetable
    that stands still, is what a restart helps against; a server that does not answer, or a Slack that takes nothing, is
    not, and does not bring it about.
    """

    def __init__(self, supervisor: Supervisor, goes_on: Callable[[Instant], bool]) -> None:
        self._supervisor = supervisor
        self._goes_on = goes_on
        self._withheld = 0
        self.interval: Duration = supervisor.watchdog

    def tick(self, now: Instant) -> None:
        """Give it, or withhold it and say so once."""
        if self._goes_on(now):
            self._withheld = 0
            self._supervisor.alive()
            return
        self._withheld += 1
        # A daemon that has just begun, and a machine that slept, are well at the second look.
        if self._withheld == 2:  # noqa: PLR2004 - as the comment says
            log.error("no sign of life to systemd: rules or scrapes stand still")
