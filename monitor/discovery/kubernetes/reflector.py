"""
All objects of one kind in one place, as the API server has them: listed once, then watched.

reference: Kubernetes, "Efficient detection of changes": a list is a page after the other, and its resource version is
where the watch begins; bookmarks move that on; 410 means that the version is too old, and then it is listed anew.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from monitor.clock import monotonic_seconds
from monitor.discovery.errors import DiscoveryError, Reason
from monitor.discovery.kubernetes.meta import Json, key_of, table, tables, text
from monitor.model.instant import MINUTE, SECOND, Duration, to_seconds
from monitor.model.targetgroup import TargetGroup

log = logging.getLogger(__name__)

# How many objects a page has: a pod is some 10 KB of JSON; and how many where pages do not come. Annotations may make
# it 256 KB, and then a page of all is too large for the one who asks.
PAGE, SMALL_PAGE = 250, 30
GONE = 410
# The API server ends a watch after this long. A connection that is dead without knowing is noticed as late as that.
WATCH: Duration = 2 * MINUTE
_SHORT_SECONDS = 5.0


# An object, or what it becomes.
Kept = Json | TargetGroup


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to pause after a failure, twice as long each time; what changes `together` is gone over at once."""

    first: Duration = SECOND
    longest: Duration = 30 * SECOND
    together: Duration = SECOND


USUAL_PACE = Pace()


class GoneError(DiscoveryError):
    """The resource version, or the rest of a list, is too old for the API server."""

    def __init__(self) -> None:
        super().__init__("the resource version is too old", reason=Reason.STATUS)


class Api(Protocol):
    """The API server. Both methods raise GoneError for the status 410, and DiscoveryError for whatever else."""

    def get(self, path: str, parameters: Mapping[str, str], /) -> bytes:
        """Return what the server answers."""
        ...

    def watch(self, path: str, parameters: Mapping[str, str], /) -> Iterator[bytes]:
        """Yield an empty line when the server has agreed, and then line after line until it ends."""
        ...


class Resource(NamedTuple):
    """
    What is listed.

    `kind` is that of a role; `path` says where, of a namespace if need be. `kept` makes of an object what is kept.
    """

    kind: str
    path: str
    selectors: Mapping[str, str]
    kept: Callable[[Json], Kept]


Changed = Callable[["Reflector", str], None]


class Reflector:
    """
    One thread calls `step`, again and again; anybody may read `objects` and `error`.

    `changed` is called with the key of each object that is another than before, and with "" when an error came or went.
    """

    def __init__(
        self,
        resource: Resource,
        api: Api,
        changed: Changed,
        pace: Pace = USUAL_PACE,
        seconds: Callable[[], float] = monotonic_seconds,
    ) -> None:
        self.resource = resource
        self.objects: dict[str, Kept] = {}
        self.error: DiscoveryError | None = None
        self.has_tried = False
        self._api = api
        self._changed = changed
        self._seconds = seconds
        self._version = ""
        self._pace = pace
        self._pause = pace.first
        self._page = PAGE
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(to_seconds(self.step()))

    def stop(self) -> None:
        self._stopping.set()

    def step(self) -> Duration:
        """List, or watch until the server ends it; returns how long to wait before the next step. Never raises."""
        began, is_list = self._seconds(), not self._version
        error: DiscoveryError | None = None
        try:
            if is_list:
                self._list()
            else:
                self._watch()
        except GoneError as err:
            self._version = ""
            # After a watch the next list mends it. A list that never comes to its end is nothing that mends itself.
            error = err if is_list else self.error
        except DiscoveryError as err:
            error = err
            if is_list:
                self._page = max(self._page // 2, SMALL_PAGE)
        except Exception as err:  # a tick like the others: a defect of ours, or a server that talks nonsense
            log.exception("a list or a watch failed unexpectedly", extra={"path": self.resource.path})
            self._version = ""
            error = DiscoveryError(f"internal error: {type(err).__name__}", reason=Reason.INTERNAL)
        self._tell(error)
        has_worked = not is_list and self._seconds() - began >= _SHORT_SECONDS
        if has_worked:
            # However it ended: what stands in between may cut every connection after a minute.
            self._pause = self._pace.first
        if error is None and (is_list or (has_worked and self._version)):
            return 0
        # A server that ends every watch at once, or has every list too old for one, is not asked in a loop.
        return self._paused()

    def _paused(self) -> Duration:
        pause, self._pause = self._pause, min(2 * self._pause, self._pace.longest)
        return pause

    def _tell(self, error: DiscoveryError | None) -> None:
        before, self.error = self.error, error
        is_first, self.has_tried = not self.has_tried, True
        if is_first or error is not None or before is not None:
            self._changed(self, "")

    def _list(self) -> None:
        """Take over all objects there are; nothing is taken of a list that breaks off."""
        found: dict[str, Kept] = {}
        parameters = {"limit": str(self._page), **self.resource.selectors}
        while True:
            page = _parsed(self._api.get(self.resource.path, parameters))
            for item in tables(page, "items"):
                found[key_of(item)] = self.resource.kept(item)
            meta = table(page, "metadata")
            rest = text(meta, "continue")
            if not rest:
                break
            if self._stopping.is_set():
                return
            parameters = {**parameters, "continue": rest}
        self._page = min(2 * self._page, PAGE)
        before, self.objects = self.objects, found
        for key in {**before, **found}:
            if before.get(key) != found.get(key):
                self._changed(self, key)
        self._version = text(meta, "resourceVersion")
        if not self._version:
            raise DiscoveryError("a list without a resource version: is this an API server?", reason=Reason.CONTENT)

    def _watch(self) -> None:
        """Follow the changes until the server ends."""
        parameters = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(round(to_seconds(WATCH))),
            **self.resource.selectors,
        }
        for line in self._api.watch(self.resource.path, parameters):
            if self._stopping.is_set():
                break
            # The connection stands: what was wrong before is not any more.
            self._tell(None)
            if line:
                self._take(_parsed(line))

    def _take(self, event: Json) -> None:
        obj, kind = table(event, "object"), text(event, "type")
        if kind == "ERROR":
            self._version = ""
            if obj.get("code") == GONE:
                raise GoneError
            raise DiscoveryError(f"the watch failed: {text(obj, 'message')}", reason=Reason.STATUS)
        self._version = text(table(obj, "metadata"), "resourceVersion") or self._version
        if kind == "BOOKMARK":
            return
        key = key_of(obj)
        if kind == "DELETED":
            self.objects.pop(key, None)
        elif (kept := self.resource.kept(obj)) != self.objects.get(key):
            self.objects[key] = kept
        else:
            return
        self._changed(self, key)


def _parsed(data: bytes) -> Json:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError) as err:
        raise DiscoveryError("an answer that is no JSON", reason=Reason.CONTENT) from err
    if not isinstance(found, dict):
        raise DiscoveryError("an answer that is no object", reason=Reason.CONTENT)
    return found
