"""All incidents that are not forgotten, in memory, and written wherever the process keeps what must outlive it."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from monitor.model.instant import HOUR, Duration, Instant
from monitor.notify.slack.incident import Incident, Key

# As long as the notification log knows of a group; a click on an older message finds nothing.
RETENTION: Duration = 120 * HOUR


class IncidentKeeper(Protocol):
    """Keeps incidents beyond the life of the process; never raises."""

    def keep_incidents(self, incidents: Sequence[Incident], forgotten: Sequence[Key]) -> None: ...


class Incidents:
    """
    The incidents by their keys. Safe to call from any thread.

    Whoever changes one says how (`change`), so that two who do it at once both have their way. What was changed is
    kept before anybody can see it.
    """

    def __init__(self, incidents: Iterable[Incident] = (), keeper: IncidentKeeper | None = None) -> None:
        self._incidents = {incident.key: incident for incident in incidents}
        self._keeper = keeper
        self._lock = threading.RLock()

    def begin(self, incidents: Iterable[Incident], keeper: IncidentKeeper) -> None:
        """Go on with the incidents of an earlier life, and keep all from here on."""
        with self._lock:
            self._incidents = {incident.key: incident for incident in incidents}
            self._keeper = keeper

    def get(self, key: Key) -> Incident | None:
        return self._incidents.get(key)

    def find(self, incident_id: str) -> Incident | None:
        """Return the incident of this id, which is what a button carries."""
        with self._lock:
            return next((one for one in self._incidents.values() if one.id == incident_id), None)

    def all(self) -> list[Incident]:
        with self._lock:
            return list(self._incidents.values())

    def open(self) -> list[Incident]:
        """Return the incidents that are not over."""
        with self._lock:
            return [incident for incident in self._incidents.values() if incident.is_open]

    def members(self, integration: str, digest: str) -> list[Incident]:
        """Return the incidents that were told in the digest of this group key."""
        with self._lock:
            return [one for one in self._incidents.values() if one.digest == digest and one.integration == integration]

    def put(self, *incidents: Incident) -> None:
        with self._lock:
            self._keep(incidents)

    def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident:
        """Put what `how` makes of the incident, and return it; nobody changes it meanwhile."""
        with self._lock:
            before = self._incidents.get(key)
            after = how(before)
            if after is not before:
                self._keep((after,))
            return after

    def expire(self, before: Instant) -> None:
        """Forget the incidents of which nothing was heard since `before`."""
        with self._lock:
            old = tuple(key for key, one in self._incidents.items() if one.told.now < before)
            if old:
                self._keep((), old)

    def shift(self, by: Duration) -> None:
        """The clock was set by so much: everything moves along."""
        with self._lock:
            self._keep(tuple(incident.shifted(by) for incident in self._incidents.values()))

    def _keep(self, incidents: Sequence[Incident], forgotten: Sequence[Key] = ()) -> None:
        # Under the lock, or an older state could be written over a newer one.
        if self._keeper is not None:
            self._keeper.keep_incidents(incidents, forgotten)
        for incident in incidents:
            self._incidents[incident.key] = incident
        for key in forgotten:
            self._incidents.pop(key, None)
