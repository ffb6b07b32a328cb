"""Whatever finds the targets of a job, at work on a thread of its own; and what it has found so far."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from monitor.discovery.errors import DiscoveryError, Reason
from monitor.model.instant import Duration, to_seconds
from monitor.model.targetgroup import TargetGroup

log = logging.getLogger(__name__)


class Found(NamedTuple):
    """All groups there are now. Those that `errors` kept from being read anew are as they were."""

    groups: Sequence[TargetGroup]
    errors: Sequence[DiscoveryError] = ()


class Discovery(Protocol):
    """Looks for targets again and again."""

    def look(self) -> tuple[Found, Duration]:
        """Return what there is, and how long to wait before the next look. Raises DiscoveryError."""
        ...

    def stop(self) -> None:
        """End a look that is under way, from another thread."""
        ...


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of it: `changed` when other groups were found, `looked` of each look, with the errors."""

    changed: Callable[[], None] = lambda: None
    looked: Callable[[str, str, Sequence[DiscoveryError]], None] = lambda _job, _mechanism, _errors: None


@dataclass(eq=False)
class Provider:
    """
    One discovery of one job. `groups` may be read by anybody; what was found stays when a look fails.

    `mechanism` is its kind, as in the name of its key: `file`, `http`, `dns`, `kubernetes`.
    """

    job: str
    mechanism: str
    discovery: Discovery
    listener: Listener
    retry: Duration
    groups: Sequence[TargetGroup] = ()
    error: str = ""
    answered: threading.Event = field(default_factory=threading.Event)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look, unless it has begun already."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"{self.mechanism} sd", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Look no more; what a look under way still finds counts for nothing."""
        self._stopping.set()
        self.discovery.stop()

    def step(self) -> Duration:
        """Look once; returns how long to wait before the next look. Never raises."""
        try:
            found, wait = self.discovery.look()
        except DiscoveryError as err:
            found, wait = Found(self.groups, (err,)), self.retry
        except Exception as err:  # a tick like the others: a defect of ours must not end the search
            log.exception("discovery failed unexpectedly", extra={"job": self.job})
            defect = DiscoveryError(f"internal error: {type(err).__name__}", reason=Reason.INTERNAL)
            found, wait = Found(self.groups, (defect,)), self.retry
        if not self._stopping.is_set():
            self._take(found)
        return wait

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(to_seconds(self.step()))

    def _take(self, found: Found) -> None:
        is_other = _differ(found.groups, self.groups)
        if is_other:
            # Else the very same stay: what became of them is known.
            self.groups = found.groups
        self._tell(found.errors)
        # A failure is no answer: whoever waits for the first one wants targets.
        is_first = not self.answered.is_set() and not (found.errors and not found.groups)
        if is_first:
            self.answered.set()
        if is_other or is_first:
            self.listener.changed()

    def _tell(self, errors: Sequence[DiscoveryError]) -> None:
        """Log what is wrong once, not at every look."""
        # A server that is away is away for everything that is asked of it.
        error = "; ".join(dict.fromkeys(map(str, errors)))
        self.listener.looked(self.job, self.mechanism, errors)
        if error == self.error:
            return
        self.error = error
        where = {"job": self.job, "mechanism": self.mechanism}
        if error:
            log.warning("discovery failed, the last targets stay", extra={**where, "error": error})
        else:
            log.info("discovery works again", extra=where)


def _differ(new: Sequence[TargetGroup], old: Sequence[TargetGroup]) -> bool:
    # Most are the very same: those that nobody has looked at anew.
    return len(new) != len(old) or any(one is not other and one != other for one, other in zip(new, old, strict=True))
