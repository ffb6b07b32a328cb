"""Looks through the incidents, and does what is due where nobody answered."""

import logging
from collections.abc import Callable
from typing import Protocol

from monitor.model.instant import Instant
from monitor.notify.interactive.desk import Silencer, in_force
from monitor.notify.interactive.escalation import Escalation, Step, due
from monitor.notify.slack.incident import Incident, Key

log = logging.getLogger(__name__)


class Shelves(Protocol):
    """The incidents; a change is written before it is seen, and nobody else changes the incident meanwhile."""

    def all(self) -> list[Incident]: ...

    def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident: ...


class Escalator:
    """
    `look` is called from time to time. `touched` hears of an incident that owes its channel something.

    `pass_on` enters what the next receiver is told of an incident, before that is noted: a kill between the two may say
    it twice, under one id, and never loses it.
    """

    def __init__(
        self,
        incidents: Shelves,
        silences: Silencer,
        touched: Callable[[Incident], None],
        pass_on: Callable[[Incident], None],
    ) -> None:
        self._incidents = incidents
        self._silences = silences
        self._touched = touched
        self._pass_on = pass_on
        self.escalation: Escalation | None = None

    def look(self, now: Instant) -> None:
        for incident in self._incidents.all():
            if self._due(incident, now) is not None:
                self._do(incident, now)

    def _do(self, found: Incident, now: Instant) -> None:
        done: list[Step] = []

        def change(incident: Incident | None) -> Incident:
            current = incident or found
            # Somebody may have clicked in this very moment.
            step = self._due(current, now)
            if step is None:
                return current
            if step.passes_on:
                self._pass_on(current)
            done.append(step)
            return step.incident

        after = self._incidents.change(found.key, change)
        for step in done:
            if step.escalates:
                log.warning("escalated", extra={"group": after.group_key, "stage": after.escalated})
            if after.owed:
                self._touched(after)

    def _due(self, incident: Incident, now: Instant) -> Step | None:
        return due(incident, in_force(self._silences, incident, now), now, self.escalation)
