"""Looks through the incidents, and does what is due where nobody answered."""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from monitor.model.instant import MINUTE, Duration, Instant
from monitor.notify.interactive.desk import Known, in_force
from monitor.notify.interactive.escalation import Escalation, Step, due, first_of, ringing
from monitor.notify.slack.incident import Incident, Key

log = logging.getLogger(__name__)

# Between two mentions in one channel.
RINGS_APART: Duration = MINUTE


class Shelves(Protocol):
    """The incidents; a change is written before it is seen, and nobody else changes the incident meanwhile."""

    def all(self) -> list[Incident]: ...

    def change(self, key: Key, how: Callable[[Incident | None], Incident]) -> Incident: ...


class Quiets(Protocol):
    """What holds messages back."""

    def holds(self, incident: Incident, now: Instant) -> bool:
        """Say whether nobody would be told of the incident now."""
        ...


class Escalator:
    """
    `look` is called from time to time. `touched` hears of an incident that owes its channel something.

    `pass_on` enters what the next receiver is told of an incident, before that is noted: a kill between the two may say
    it twice, under one id, and never loses it. A flood of incidents rings once in a while, not once each.
    """

    def __init__(
        self,
        incidents: Shelves,
        silences: Known,
        touched: Callable[[Incident], None],
        pass_on: Callable[[Incident], None],
    ) -> None:
        self._incidents = incidents
        self._silences = silences
        self._touched = touched
        self._pass_on = pass_on
        self._rang_at: dict[str, Instant] = {}
        self.escalation: Escalation | None = None
        self.quiet: Quiets | None = None

    def look(self, now: Instant) -> None:
        unanswered: dict[str, list[Incident]] = {}
        for incident in self._incidents.all():
            step = self._due(incident, now)
            if step is not None and step.rings:
                unanswered.setdefault(incident.integration, []).append(incident)
            elif step is not None:
                self._do(incident, now)
        for integration, incidents in unanswered.items():
            # A clock that was set back must not make anybody wait.
            if not 0 <= now - self._rang_at.get(integration, now - RINGS_APART) < RINGS_APART:
                self._rang_at[integration] = now
                self._ring(incidents, now)

    def _ring(self, incidents: Sequence[Incident], now: Instant) -> None:
        first = first_of(incidents)
        others = sum(self._do(one, now) for one in incidents if one is not first)
        self._do(first, now, others)

    def _do(self, found: Incident, now: Instant, others: int | None = None) -> bool:
        """
        Do what is due of one incident; returns whether anything was.

        With a number of `others` somebody is mentioned for it and for them.
        """
        done: list[Step] = []

        def change(incident: Incident | None) -> Incident:
            current = incident or found
            # Somebody may have clicked in this very moment.
            step = self._due(current, now)
            if step is None:
                return current
            if step.passes_on:
                self._pass_on(step.incident)
            done.append(step)
            if others is not None and self.escalation is not None:
                return ringing(step.incident, others, now, self.escalation)
            return step.incident

        after = self._incidents.change(found.key, change)
        for step in done:
            if step.escalates:
                log.warning("escalated", extra={"group": after.group_key, "stage": after.escalated})
            if after.owed:
                self._touched(after)
        return bool(done)

    def _due(self, incident: Incident, now: Instant) -> Step | None:
        def is_quiet() -> bool:
            return self.quiet is not None and self.quiet.holds(incident, now)

        return due(incident, in_force(self._silences, incident, now), now, self.escalation, is_quiet)
